package import DNSSD

/// The known peers, and which connection to each counts. A value: it takes events and returns actions.
///
/// Two peers have one connection even if both dial simultaneously: of two greeted connections, the one that the smaller id dialled stays.
/// Both sides know both ids, so they decide alike.
///
/// The side that said welcome is connected once it hears something more: a hello may be old, and its sender gone to another connection.
package struct PeerTable: Sendable {
    /// Identifies a connection.
    package typealias LinkID = Int

    /// What to do.
    package enum Action: Hashable, Sendable {
        /// Dial a service to greet a peer, and report the result with the number of the attempt. An outdated attempt need not be cancelled;
        /// its connection is closed.
        case dial(PeerID, ServiceInstance, attempt: Int)
        /// Report after a while if the peer's own hello, for which it refused ours, did not come.
        case expect(PeerID, attempt: Int)
        /// Say hello.
        case greet(LinkID)
        /// Say welcome; messages may follow.
        case welcome(LinkID)
        /// Say no and close.
        case refuse(LinkID, Frame.Refusal)
        /// Say goodbye and close.
        case close(LinkID)
        /// Report an event to the user.
        case tell(SessionEvent)
        /// Answer the callers that wait for a connection to this peer.
        case answer(PeerID, SessionError?)
    }

    /// The relation to a peer.
    enum Relation: Hashable, Sendable {
        case none
        /// We are dialling.
        case dialling(attempt: Int)
        /// We have said hello.
        case greeted(LinkID)
        /// It refused our hello, because its own is on the way.
        case expecting(attempt: Int)
        /// It has said hello; the user must answer.
        case invited(LinkID)
        /// It has said hello, we have said welcome, and nothing has come since.
        case welcomed(LinkID)
        case connected(LinkID)

        var link: LinkID? {
            switch self {
            case .greeted(let link), .invited(let link), .welcomed(let link), .connected(let link): link
            case .none, .dialling, .expecting: nil
            }
        }
    }

    /// What a caller's key says about the peer that its hello claims to be.
    package enum Claim: Hashable, Sendable {
        /// It is the key of the service where the peer was found, or nothing speaks against it: there is no such service, or no TLS.
        case proven
        /// The service's key is not known yet.
        case open
        /// The service has another key.
        case refuted
    }

    struct Entry: Sendable {
        var peer: Peer
        var service: ServiceInstance?
        var relation = Relation.none
        /// A caller waits for a connection.
        var isWanted = false
    }

    let own: PeerID
    private var attempts = 0
    var entries: [PeerID: Entry] = [:]
    private var links: [LinkID: PeerID] = [:]

    package init(own: PeerID) { self.own = own }

    /// All known peers, sorted by name and id.
    package var peers: [Peer] {
        entries.values.map(\.peer).sorted { ($0.displayName, $0.id) < ($1.displayName, $1.id) }
    }

    /// The connection that carries messages to a peer.
    package func link(to id: PeerID) -> LinkID? {
        if case .connected(let link) = entries[id]?.relation { link } else { nil }
    }

    /// The peer whose messages a connection carries.
    package func connectedPeer(on link: LinkID) -> Peer? {
        guard let id = links[link], self.link(to: id) == link else { return nil }
        return entries[id]?.peer
    }

    // MARK: What the browser tells

    /// A service claims to be this peer.
    package mutating func found(_ id: PeerID, named name: String, at service: ServiceInstance) -> [Action] {
        // A session that restarted under the same name has another id; so may this one.
        let former = entries.contains { $0.key != id && $0.value.service == service }
        guard id != own else { return former ? lost(service) : [] }
        return (former ? lost(service) : []) + add(id, named: name, at: service)
    }

    private mutating func add(_ id: PeerID, named name: String, at service: ServiceInstance) -> [Action] {
        if var entry = entries[id] {
            // Another service with this id does not replace it.
            guard entry.service == nil || entry.service == service else { return [] }
            entry.service = service
            entries[id] = entry
            return entry.relation == .none ? become(.available, id) : []
        }
        entries[id] = Entry(peer: Peer(id: id, displayName: name, state: .unavailable), service: service)
        return become(.available, id)
    }

    /// A service is gone.
    package mutating func lost(_ service: ServiceInstance) -> [Action] {
        guard let id = entries.first(where: { $0.value.service == service })?.key else { return [] }
        entries[id]?.service = nil
        return entries[id]?.relation == Relation.none ? remove(id) : []
    }

    // MARK: Helpers

    /// - Returns: the event to report if the state changed.
    mutating func become(_ state: PeerState, _ id: PeerID) -> [Action] {
        guard var entry = entries[id], entry.peer.state != state else { return [] }
        entry.peer.state = state
        entries[id] = entry
        return [.tell(.changed(entry.peer))]
    }

    mutating func remove(_ id: PeerID) -> [Action] {
        let actions = become(.unavailable, id)
        entries[id] = nil
        return actions
    }

    mutating func set(_ relation: Relation, for id: PeerID) {
        if let old = entries[id]?.relation.link { links[old] = nil }
        entries[id]?.relation = relation
        if let link = relation.link { links[link] = id }
    }

    /// Where a peer was found.
    func service(of id: PeerID) -> ServiceInstance? { entries[id]?.service }

    func peerID(on link: LinkID) -> PeerID? { links[link] }

    /// The number of a new attempt to dial.
    mutating func nextAttempt() -> Int {
        attempts += 1
        return attempts
    }

    /// Answers the callers that wait for a connection.
    mutating func answer(_ id: PeerID, _ error: SessionError?) -> [Action] {
        entries[id]?.isWanted = false
        return [.answer(id, error)]
    }

    /// After a failed or ended connection, the browser's knowledge counts again.
    mutating func fallBack(_ id: PeerID) -> [Action] {
        set(.none, for: id)
        return entries[id]?.service == nil ? remove(id) : become(.available, id)
    }
}

/// Identifies a participant: each session draws a random number, so that two of the same name are distinct.
public struct PeerID: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// Any number.
    public let rawValue: UInt64

    /// Uses a given number.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Draws 64 random bits.
    public static func random() -> PeerID { PeerID(rawValue: .random(in: .min ... .max)) }

    /// Parses exactly 16 hexadecimal digits; nil for anything else.
    public init?(_ text: String) {
        guard let value = UInt64(hexadecimal: text) else { return nil }
        rawValue = value
    }

    /// 16 hexadecimal digits.
    public var description: String { rawValue.hexadecimal }

    /// Orders by number.
    public static func < (one: PeerID, other: PeerID) -> Bool { one.rawValue < other.rawValue }
}
