import DNSMessage
import DNSSD
import Discovery

/// Claims a name for the host that services are on, under which its addresses are, or borrows one that has its addresses already.
struct HostClaim: Sendable {
    /// The name that is wanted.
    enum Wish: Sendable {
        /// The machine's own: a label, or labels separated by dots, which have a number where another host has that name.
        case own(String)
        /// An alias: no other name will do.
        case alias(DomainName)
    }

    /// What the server's replies mean for the rest of the publisher.
    enum Notice {
        /// The server has this publisher's addresses.
        case written
        /// Services must point to another name.
        case moved
        /// The alias is another host's name.
        case taken
        /// No service can exist, because the host cannot.
        case refused(DiscoveryError)
        /// The server lacks the lease, or the name is not this publisher's any more.
        case leaseIsDoubtful
    }

    /// What services point to, whatever is known of the name's owner.
    private enum Footing: Sendable {
        case nothing
        /// This publisher's addresses may be there, without an acknowledgment.
        case sent
        /// The server has this version of the addresses.
        case written(Int)
        /// The name is not this publisher's but has this host's addresses, as from DHCP: services only point to it.
        case borrowed
    }

    private enum State: Sendable {
        /// The name should be free.
        case free(Footing)
        case mine(Footing)
        /// The server must be asked for the owner.
        case unclear(Footing)
        /// The name has no owner. The server must be asked for its addresses; these are known so far.
        case foreign(Footing, found: [RecordType: Set<IPAddress>])
        /// It is checked again at each renewal of the lease.
        case borrowed
        /// The alias was another host's; it is tried again.
        case taken
    }

    private enum Errand: Sendable {
        case writing(version: Int, Set<IPAddress>)
        case owner
        case addresses(RecordType)
    }

    /// What is left of a name that was given up.
    struct End: Sendable {
        let name: DomainName
        /// The addresses that the server said it has. They may be there without an owner, where it leaves that out.
        let addresses: Set<IPAddress>
    }

    private let records: PublisherRecords
    private let wish: Wish
    /// The host's addresses; nil before they were looked at.
    private(set) var addresses: Set<IPAddress>?
    /// The number of the name that is being tried: `h1`, `h1-2`, `h1-3` …
    private var number = 1
    private var state = State.free(.nothing)
    private var underWay: Errand?
    /// How often the name was in use although it had neither owner nor addresses.
    private var tries = 0
    private var version = 1
    /// The addresses that the server said last that it has at the name.
    private var acknowledged: Set<IPAddress> = []
    private(set) var retryAt: Duration?
    private var delay = RetryDelay()

    init(_ records: PublisherRecords, _ wish: Wish) { (self.records, self.wish) = (records, wish) }

    // MARK: What is known

    /// The name that is being tried; a number is added to its first label. Nil if it cannot be a DNS name.
    var name: DomainName? {
        switch wish {
        case .own(let label): records.layout.host(Self.numbered(label, number))
        case .alias(let name): name
        }
    }

    /// What is said where it has no name.
    var fault: DiscoveryError {
        guard case .own(let label) = wish else { return .init(.misconfigured, "an alias cannot be a host name") }
        return .init(.misconfigured, "\(label.escapedForTerminal) cannot be a host name")
    }

    static func numbered(_ label: String, _ number: Int) -> String {
        guard number > 1 else { return label }
        let first = label.prefix { $0 != "." }
        var short = first
        if short.utf8.count > 56 { while short.utf8.count > 40 { short.removeLast() } }
        return "\(short)-\(number)\(label.dropFirst(first.count))"
    }

    private var footing: Footing {
        switch state {
        case .free(let footing), .mine(let footing), .unclear(let footing), .foreign(let footing, _): footing
        case .borrowed: .borrowed
        case .taken: .nothing
        }
    }

    var isTaken: Bool { if case .taken = state { true } else { false } }

    /// Whether the name exists, so that services may point to it.
    var isThere: Bool {
        switch footing {
        case .written, .borrowed: true
        case .nothing, .sent: false
        }
    }

    var isUnderWay: Bool { underWay != nil }

    /// Whether the server has acknowledged this publisher's addresses.
    var isWritten: Bool { if case .written = footing { true } else { false } }

    /// Whether records of this publisher may be at the name.
    var mayExist: Bool {
        switch footing {
        case .sent, .written: true
        case .nothing, .borrowed: false
        }
    }

    /// The families of the addresses that this publisher writes.
    var writtenFamilies: Set<IPAddress.Family> { mayExist ? Set((addresses ?? []).map(\.family)) : [] }

    // MARK: Events

    mutating func became(_ addresses: Set<IPAddress>) {
        guard addresses != self.addresses else { return }
        self.addresses = addresses
        version += 1
        retryAt = nil
        lookAgain()
    }

    /// Whoever has a name that is only borrowed may have taken it away, or given it other addresses.
    mutating func lookAgain() {
        if case .borrowed = state { state = .unclear(.borrowed) }
    }

    /// Writes the addresses again: the server may have an older zone.
    mutating func writeAgain() { version += 1 }

    /// Publishes the name again, because others may have taken it back.
    mutating func lost() {
        state = .free(mayExist ? .sent : .nothing)
        version += 1
    }

    /// The server has not all that it said it has: gives the name up, and tries it again later.
    /// - Returns: what must be removed.
    mutating func leftOut(_ now: Duration, jitter: Double) -> End? {
        guard underWay == nil else { return nil }
        let left = name.map { End(name: $0, addresses: acknowledged) }
        state = .free(.nothing)
        version += 1
        retryLater(now, jitter: jitter)
        return left
    }

    /// Gives the name up, because no service needs it any more.
    /// - Returns: what must be removed.
    mutating func withdraw() -> End? {
        guard underWay == nil else { return nil }
        let left = mayExist ? name.map { End(name: $0, addresses: acknowledged) } : nil
        (state, number, retryAt, acknowledged) = (.free(.nothing), 1, nil, [])
        version += 1
        return left
    }

    mutating func retryNow() { retryAt = nil }

    mutating func retryLater(_ now: Duration, jitter: Double) { retryAt = now + delay.failed(jitter) }

    // MARK: Requests and replies

    /// Returns whether a request may be sent now.
    func isReady(_ now: Duration) -> Bool { underWay == nil && (retryAt ?? now) <= now }

    mutating func next() -> ZoneRequest? {
        retryAt = nil
        guard let name, let addresses, !addresses.isEmpty else { return nil }
        switch state {
        case .borrowed: return nil
        case .unclear:
            underWay = .owner
            return .ask(name, .dhcid)
        case .foreign(_, let found):
            let type = found[.a] == nil ? RecordType.a : .aaaa
            underWay = .addresses(type)
            return .ask(name, type)
        case .mine(.written(let written)) where written >= version: return nil
        case .mine:
            if !isWritten { state = .mine(.sent) }
            underWay = .writing(version: version, addresses)
            return records.write(host: name, addresses, isOwn: true)
        case .free, .taken:
            state = .free(.sent)
            underWay = .writing(version: version, addresses)
            return records.write(host: name, addresses, isOwn: false)
        }
    }

    mutating func received(_ reply: ZoneReply, _ now: Duration, jitter: Double) -> [Notice] {
        guard let errand = underWay else { return [] }
        underWay = nil
        switch errand {
        case .writing(let version, let sent):
            if case .outcome(.done) = reply { acknowledged = sent }
            return written(version, reply, now, jitter)
        case .owner, .addresses:
            guard case .records(let answer) = reply else {
                retryLater(now, jitter: jitter)
                return []
            }
            if case .addresses(let type) = errand { return addressesRead(type, answer, now, jitter) }
            return ownerRead(answer, now, jitter)
        }
    }

    private mutating func written(_ version: Int, _ reply: ZoneReply, _ now: Duration, _ jitter: Double) -> [Notice] {
        switch reply {
        case .outcome(.done):
            state = .mine(.written(version))
            delay.succeeded()
            return [.written]
        case .outcome(.nameInUse): state = .unclear(footing)
        case .outcome(.notAsRequired):
            if case .mine = state { state = .unclear(footing) }
            return [.leaseIsDoubtful]
        case .outcome(.refused(let error)):
            retryLater(now, jitter: jitter)
            return [.refused(error)]
        case .outcome(.serverFailed):
            retryLater(now, jitter: jitter)
            return [.refused(.init(.backendFailed, records.serverFailure))]
        default: break
        }
        return []
    }

    private mutating func ownerRead(_ owners: [RecordData], _ now: Duration, _ jitter: Double) -> [Notice] {
        guard let name else { return [] }
        if owners.isEmpty {
            // The name has become free, or its owner has no DHCID record.
            if case .unclear(let footing) = state { state = .foreign(footing, found: [:]) }
        } else if owners == [records.owner(of: name)] {
            // The addresses are written again, for they may be older ones.
            if isWritten { version += 1 }
            state = .mine(isWritten ? footing : .sent)
        } else {
            return nextName(now, jitter)
        }
        return []
    }

    private mutating func addressesRead(
        _ type: RecordType, _ answer: [RecordData], _ now: Duration, _ jitter: Double
    ) -> [Notice] {
        guard case .foreign(let footing, var found) = state else { return [] }
        found[type] = Set(answer.compactMap { IPAddress($0, scope: 0) })
        guard let v4 = found[.a], let v6 = found[.aaaa] else {
            state = .foreign(footing, found: found)
            return []
        }
        let there = v4.union(v6)
        if there.isEmpty {
            tries += 1
            guard tries <= 2 else { return nextName(now, jitter) }
            state = .free(mayExist ? .sent : .nothing)
        } else if there.isSubset(of: addresses ?? []) {
            state = .borrowed
            if case .borrowed = footing { return [] }
            return [.moved]
        } else {
            return nextName(now, jitter)
        }
        return []
    }

    /// The name is another host's. Tries the next one, to which services must then point; an alias the same, later.
    private mutating func nextName(_ now: Duration, _ jitter: Double) -> [Notice] {
        (state, tries, acknowledged) = (.free(.nothing), 0, [])
        guard case .own = wish else {
            state = .taken
            retryLater(now, jitter: jitter)
            return [.taken]
        }
        number += 1
        return [.moved]
    }
}
