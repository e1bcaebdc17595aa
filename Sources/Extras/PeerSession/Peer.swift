public import DNSSD

/// The relation to a peer.
public enum PeerState: String, Hashable, Sendable {
    /// The peer is present and can be invited.
    case available
    /// One side has invited the other.
    case connecting
    /// Messages go both ways.
    case connected
    /// The peer was connected and left, or has been silent for too long.
    case disconnected
    /// The peer is gone.
    case unavailable
}

/// Another participant in the session.
public struct Peer: Hashable, Sendable, CustomStringConvertible {
    /// The maximum length of a display name in bytes of UTF-8; longer names are cut.
    public static let maximumNameLength = 200

    /// The peer's id.
    public let id: PeerID
    /// The name that the peer gives itself: any text, to be escaped before showing it.
    public let displayName: String
    /// The current relation.
    public internal(set) var state: PeerState

    package init(id: PeerID, displayName: String, state: PeerState) {
        self.id = id
        self.displayName = Self.cut(displayName)
        self.state = state
    }

    /// The name, safe for a terminal.
    public var description: String { displayName.escapedForTerminal }

    static func cut(_ name: String) -> String { String(name.characters(fitting: maximumNameLength)) }
}

/// How a session finds others.
public enum SessionMode: String, Hashable, Sendable, CaseIterable {
    /// Can be found and invited.
    case server
    /// Looks for servers and invites them.
    case client
    /// Both.
    case peer
}

/// How a message is delivered.
public enum Delivery: Hashable, Sendable {
    /// In order and exactly once, or the peer is disconnected. Sending waits for a slow peer.
    case reliable
    /// Dropped if the peer or the network does not keep up; sending never waits. Uses UDP where that works, in order; messages of more than
    /// 1215 bytes use the connection, and may be overtaken.
    case unreliable
}

/// What a session reports.
public enum SessionEvent: Hashable, Sendable {
    /// The service is announced; its name may have been numbered.
    case published(OfferedService, as: ServiceName)
    /// mDNS answers, has gone or is back; peers are kept meanwhile.
    case backend(BackendState)
    /// A peer appeared, or its state changed.
    case changed(Peer)
    /// A peer wants to connect: `accept` or `decline` it within 30 s.
    case invited(Peer)
    /// A message arrived.
    case received([UInt8], from: Peer, Delivery)
}
