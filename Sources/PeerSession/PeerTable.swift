package import DNSSD

/// Which peers there are and which connection to each counts: a value that is told what happened and says what to do.
///
/// One connection for two peers, also when both dial at the same time: of two that are greeted, the one that the smaller id
/// dialled stays. Both sides know both ids, so both decide the same.
///
/// Who says welcome is connected when it hears something after it: a hello may be old, its sender gone to another connection.
package struct PeerTable: Sendable {
    /// A connection, by a number of its own.
    package typealias LinkID = Int

    /// What to do.
    package enum Action: Hashable, Sendable {
        /// Dial a service, to greet a peer: what comes of it is told with the number of the attempt. One that is not the last any
        /// more need not be cancelled, what it brings is closed.
        case dial(PeerID, ServiceInstance, attempt: Int)
        /// Tell in a while that the peer's own hello, after which it refused ours, did not come.
        case expect(PeerID, attempt: Int)
        /// Say hello.
        case greet(LinkID)
        /// Say welcome: from now on messages may come.
        case welcome(LinkID)
        /// Say no, and close.
        case refuse(LinkID, Frame.Refusal)
        /// Say goodbye, and close.
        case close(LinkID)
        /// Tell who uses the session.
        case tell(SessionEvent)
        /// Who waits for a connection to this peer has it, or never will.
        case answer(PeerID, SessionError?)
    }

    /// What there is between us and a peer.
    enum Relation: Hashable, Sendable {
        case none
        /// We dial, and have said nothing.
        case dialling(attempt: Int)
        /// We said hello.
        case greeted(LinkID)
        /// It said no to our hello, because its own is on the way.
        case expecting(attempt: Int)
        /// It said hello; somebody has to answer.
        case invited(LinkID)
        /// It said hello, we said welcome, and have heard nothing since.
        case welcomed(LinkID)
        case connected(LinkID)

        var link: LinkID? {
            switch self {
            case .greeted(let link), .invited(let link), .welcomed(let link), .connected(let link): link
            case .none, .dialling, .expecting: nil
            }
        }
    }

    struct Entry: Sendable {
        var peer: Peer
        var service: ServiceInstance?
        var relation = Relation.none
        /// Somebody waits for a connection.
        var isWanted = false
    }

    let own: PeerID
    private var attempts = 0
    var entries: [PeerID: Entry] = [:]
    private var links: [LinkID: PeerID] = [:]

    package init(own: PeerID) { self.own = own }

    /// All that are known, by name and id.
    package var peers: [Peer] {
        entries.values.map(\.peer).sorted { ($0.displayName, $0.id) < ($1.displayName, $1.id) }
    }

    /// The connection over which messages to a peer go.
    package func link(to id: PeerID) -> LinkID? {
        if case .connected(let link) = entries[id]?.relation { link } else { nil }
    }

    /// The peer whose messages a connection brings.
    package func connectedPeer(on link: LinkID) -> Peer? {
        guard let id = links[link], self.link(to: id) == link else { return nil }
        return entries[id]?.peer
    }

    // MARK: What the browser tells

    /// A service says that it is this peer.
    package mutating func found(_ id: PeerID, named name: String, at service: ServiceInstance) -> [Action] {
        // A session that began anew under the same name has another id; this one, too.
        let former = entries.contains { $0.key != id && $0.value.service == service }
        guard id != own else { return former ? lost(service) : [] }
        return (former ? lost(service) : []) + add(id, named: name, at: service)
    }

    private mutating func add(_ id: PeerID, named name: String, at service: ServiceInstance) -> [Action] {
        if var entry = entries[id] {
            // Somebody else's service with this id does not take it over.
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

    /// - Returns: what to tell, when the state is another.
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

    func peerID(on link: LinkID) -> PeerID? { links[link] }

    /// The number of a new attempt to dial.
    mutating func nextAttempt() -> Int {
        attempts += 1
        return attempts
    }

    /// Tells who waits for a connection.
    mutating func answer(_ id: PeerID, _ error: SessionError?) -> [Action] {
        entries[id]?.isWanted = false
        return [.answer(id, error)]
    }

    /// After a connection that was not made or is over: what the browser knows counts again.
    mutating func fallBack(_ id: PeerID) -> [Action] {
        set(.none, for: id)
        return entries[id]?.service == nil ? remove(id) : become(.available, id)
    }
}
