import DNSMessage
import DNSSD
import Discovery

/// One service that a publisher has in a zone, is to have, or had: claims a name for it, and removes its records at the end. Or an alias, whose
/// records are those of its `HostClaim`.
struct ItemClaim: Sendable {
    /// Why the name may not be what the server's answers say.
    enum Doubt: Sendable {
        case none
        /// The server failed once to answer the question for the name.
        case unanswered
        /// How often the name was in use although it had no owner.
        case ownerless(Int)
        /// Something of the service was not there after the server had said that all is.
        case leftOut
    }

    enum State: Sendable {
        /// The records must exist; the name should be free.
        case free(Doubt)
        /// The records must exist; the server must be asked for the name's owner.
        case unclear(Doubt)
        /// The records must exist; the name belongs to this publisher.
        case mine
        /// The records must be deleted.
        case removing
        /// The records are deleted. The manifest's entries follow, and the type in the list of types unless another service has it.
        case clearing
        /// Other services of the type exist: only the manifest's entries follow.
        case forgetting
    }

    /// What the server may have of it.
    private enum Footing: Sendable {
        case nothing
        /// It was sent, and not refused yet.
        case sent
        /// The answer to a message with it was lost, or it is what an earlier one left.
        case unheard
        /// It has this version.
        case written(Int)
    }

    private enum Turn: Sendable {
        case now
        case at(Duration)
        /// A request for it is under way.
        case underWay
    }

    /// What a refusal ends.
    private enum Tenacity: Sendable {
        /// A service that was never established.
        case tentative
        /// Not a service that was: it waits for a better time.
        case established
        /// Nothing: it is persistent.
        case persistent
    }

    /// The service to publish; nil for one that an earlier process with this publisher's id left behind.
    private(set) var service: OfferedService?
    let policy: ConflictPolicy
    /// The name that is being tried or is established.
    private(set) var name: ServiceName
    private(set) var names: InstanceNames
    private(set) var state: State
    private var footing: Footing
    private var turn = Turn.now
    private var tenacity: Tenacity
    private var delay = RetryDelay()
    /// The version of the service that is wanted.
    private(set) var version = 1
    /// The version that was sent again after a renewal of the lease: until then, an older zone may lack it.
    private var confirmed = 0
    /// How often a message with it was refused since one was not. After that it goes in a message of its own.
    private var refusals = 0
    private(set) var renames = 0
    /// The subtypes of an earlier process that the service no longer has.
    private(set) var staleSubtypes: Set<DomainName> = []
    private(set) var reported: PublicationFact?

    init(_ service: OfferedService, policy: ConflictPolicy, isPersistent: Bool, names: InstanceNames) {
        self.service = service
        self.policy = policy
        self.names = names
        name = service.name
        tenacity = isPersistent ? .persistent : .tentative
        (state, footing) = (.free(.none), .nothing)
    }

    /// A service that an earlier process left behind, to be removed.
    init(leftover names: InstanceNames) {
        self.names = names
        (policy, tenacity) = (.rename, .tentative)
        name = ServiceName(observed: "")
        (state, footing) = (.removing, .unheard)
    }

    // MARK: What is known

    var isWanted: Bool {
        switch state {
        case .free, .unclear, .mine: true
        case .removing, .clearing, .forgetting: false
        }
    }

    /// Whether it is an alias alone.
    var isAlias: Bool { service?.isAlias == true }
    /// The machine's name that it is on, or that it is.
    var role: HostRole {
        guard let host = service?.host, host.isAlias else { return .own }
        if isAlias { return .alias(names.instance) }
        return (try? DomainName(presentation: host.name.text)).map { .alias($0) } ?? .own
    }

    /// The machine's name that must be there for it.
    var neededRole: HostRole? { isWanted ? role : nil }

    var isOwn: Bool { if case .mine = state { true } else { false } }
    var isRemoving: Bool { if case .removing = state { true } else { false } }
    var isClearing: Bool { !isWanted && !isRemoving }
    var keepsType: Bool { if case .forgetting = state { true } else { false } }
    var isPersistent: Bool { if case .persistent = tenacity { true } else { false } }
    var isUnderWay: Bool { if case .underWay = turn { true } else { false } }
    var retryAt: Duration? { if case .at(let time) = turn { time } else { nil } }
    var isAlone: Bool { refusals > 0 }

    /// Whether the server may have it.
    var mayExist: Bool { if case .nothing = footing { false } else { true } }

    /// Whether the service is wanted and the server does not have its current version.
    var isOutdated: Bool {
        guard isWanted else { return false }
        if case .written(let written) = footing { return written < version }
        return true
    }

    /// Returns whether no request for it is under way and it need not wait.
    func isReady(_ now: Duration) -> Bool { !isUnderWay && (retryAt ?? now) <= now }

    /// The approximate bytes of its records in a message.
    var size: Int { 500 + (service?.txt.wireSize ?? 0) + names.subtypes.count * 300 }

    var isLeftOut: Bool { if case .leftOut = doubt { true } else { false } }
    var wasAnsweredNot: Bool { if case .unanswered = doubt { true } else { false } }

    private var doubt: Doubt {
        switch state {
        case .free(let doubt), .unclear(let doubt): doubt
        case .mine, .removing, .clearing, .forgetting: .none
        }
    }

    // MARK: Wishes

    /// Returns whether the service is another than before.
    mutating func update(_ body: (inout OfferedService) -> Void) {
        guard isWanted, var service else { return }
        body(&service)
        guard service != self.service else { return }
        self.service = service
        changed()
    }

    /// The service is to be removed.
    /// - Returns: whether there is anything to remove.
    mutating func withdraw() -> Bool {
        guard mayExist else { return false }
        state = .removing
        retryNow()
        return true
    }

    /// Marks the service to be sent again.
    mutating func changed() { version += 1 }

    /// The lease was renewed. A zone that was restored from an older state may lack what was published since the renewal before.
    /// - Returns: whether it is to be sent again.
    mutating func leaseWasRenewed() -> Bool {
        guard isWanted, !isOutdated, confirmed != version else { return false }
        changed()
        confirmed = version
        return true
    }

    /// Others have taken it back.
    mutating func takenBack() {
        guard isWanted else { return }
        changed()
        state = .free(doubt)
    }

    // MARK: Times

    mutating func began() { turn = .underWay }
    mutating func answered() { turn = .now }
    mutating func retryLater(_ now: Duration, jitter: Double) { turn = .at(now + delay.failed(jitter)) }
    mutating func retryNow() { if !isUnderWay { turn = .now } }

    /// What it waits for may have happened.
    mutating func retrySoon() {
        guard isWanted, retryAt != nil else { return }
        turn = .now
        delay.succeeded()
    }

    // MARK: Publishing

    /// Its records are sent.
    mutating func sent() {
        began()
        if case .nothing = footing { footing = .sent }
    }

    mutating func unheard() { if case .sent = footing { footing = .unheard } }

    /// A message with it was refused, so that nothing of the message was done.
    mutating func refused() {
        if case .sent = footing { footing = .nothing }
        refusals += 1
    }

    mutating func established(_ version: Int) {
        if isWanted { state = .mine }
        footing = .written(version)
        staleSubtypes = []
        if case .tentative = tenacity { tenacity = .established }
        (refusals, renames) = (0, 0)
        delay.succeeded()
    }

    /// The server must be asked for the owner of the name.
    mutating func becameUnclear() { if isWanted { state = .unclear(doubt) } }

    /// - Returns: whether it has been before.
    @discardableResult mutating func wasLeftOut() -> Bool {
        guard isWanted else { return false }
        defer { state = .unclear(.leftOut) }
        if case .leftOut = doubt { return true }
        return false
    }

    mutating func wasNotAnswered() { if isWanted { state = .free(.unanswered) } }

    /// What the owner of its name means for a service.
    enum Ownership {
        /// It can be sent.
        case usable
        /// It is this publisher's, of which the server left the owner out: under another name the same would follow.
        case leftOut
        case taken
    }

    /// - Parameter isHonest: whether the server is known to have what it says that it has.
    mutating func ownerRead(_ owners: [RecordData], own: RecordData, isHonest: Bool) -> Ownership {
        if owners == [own] {
            state = .mine
            return .usable
        }
        guard owners.isEmpty else { return .taken }
        switch doubt {
        case .leftOut where !isHonest:
            state = .free(.leftOut)
            return .leftOut
        case .ownerless(let times):
            guard times < 2 else { return .taken }
            state = .free(.ownerless(times + 1))
        // The name has become free, or its owner has no DHCID record; the next try tells.
        case .none, .unanswered, .leftOut: state = .free(.ownerless(1))
        }
        return .usable
    }

    /// Takes over the records that an earlier item or process left under the same name.
    mutating func takeOver(_ earlier: InstanceNames) {
        (state, footing) = (.mine, .unheard)
        staleSubtypes = earlier.subtypes.subtracting(names.subtypes)
    }

    /// What an earlier process left under the name has subtypes that the service no longer has.
    mutating func foundStale(_ earlier: InstanceNames) {
        let stale = earlier.subtypes.subtracting(names.subtypes)
        guard isWanted, !stale.isEmpty else { return }
        staleSubtypes = stale
        changed()
    }

    // MARK: Names

    /// The name is another publisher's.
    mutating func lostName() { (state, footing) = (.free(.none), .nothing) }

    /// Tries another name.
    mutating func rename(_ name: ServiceName, _ names: InstanceNames) { (self.name, self.names) = (name, names) }

    /// Tries another name after a conflict.
    mutating func renameAfterConflict(_ name: ServiceName, _ names: InstanceNames) {
        rename(name, names)
        renames += 1
    }

    /// No name could be had.
    /// - Returns: whether it waits for one, rather than ends.
    mutating func gaveUp() -> Bool {
        guard policy == .rename ? isKept : isPersistent else { return false }
        if let service, let wanted = InstanceNames(service, as: service.name) {
            rename(service.name, wanted)
            renames = 0
        }
        // Next time its owner is asked for: a question where an update would be refused.
        if policy == .fail { state = .unclear(.none) }
        return true
    }

    /// Whether a refusal does not end it.
    var isKept: Bool { if case .tentative = tenacity { false } else { true } }

    // MARK: Removal

    mutating func removed() {
        state = .clearing
        refusals = 0
    }

    mutating func typeIsNeeded() { state = .forgetting }

    // MARK: Reports

    /// Returns the fact to report; nil if it is known.
    mutating func report(_ state: PublicationFact.State) -> PublicationFact? {
        guard service != nil, isWanted else { return nil }
        let fact = PublicationFact(name: name, state: state)
        guard fact != reported else { return nil }
        reported = fact
        return fact
    }
}
