public import DNSSD

/// How far things are with a peer.
public enum PeerState: String, Hashable, Sendable {
    /// It is there and can be invited.
    case available
    /// One of the two has invited the other.
    case connecting
    /// Messages go both ways.
    case connected
    /// It was connected and left, or has been silent for too long.
    case disconnected
    /// It is not there any more.
    case unavailable
}

/// Another participant.
public struct Peer: Hashable, Sendable, CustomStringConvertible {
    /// The longest display name in bytes of UTF-8; what is longer is cut.
    public static let maximumNameLength = 200

    /// Which one.
    public let id: PeerID
    /// What it calls itself: any text, to be escaped where it is shown.
    public let displayName: String
    /// How far things are with it.
    public internal(set) var state: PeerState

    package init(id: PeerID, displayName: String, state: PeerState) {
        self.id = id
        self.displayName = Self.cut(displayName)
        self.state = state
    }

    /// The name, safe for a terminal.
    public var description: String { displayName.escapedForTerminal }

    /// As many whole characters as fit.
    static func cut(_ name: String) -> String {
        guard name.utf8.count > maximumNameLength else { return name }
        var left = maximumNameLength
        return String(
            name.prefix { character in
                left -= character.utf8.count
                return left >= 0
            })
    }
}

/// What a session does to find others.
public enum SessionMode: String, Hashable, Sendable, CaseIterable {
    /// Is found, and is invited.
    case server
    /// Looks for servers, and invites them.
    case client
    /// Both.
    case peer
}

/// How a message goes.
public enum Delivery: Hashable, Sendable {
    /// In order, once, or the peer is disconnected. The sender waits for a peer that is slow.
    case reliable
    /// Dropped when the peer or the network does not keep up; the sender never waits. Over UDP where that arrives, in order;
    /// what has more than 1215 bytes goes over the connection, and may be overtaken.
    case unreliable
}

/// What a session tells.
public enum SessionEvent: Hashable, Sendable {
    /// The service is announced; the name may have got a number.
    case published(OfferedService, as: ServiceName)
    /// mDNS answers, went away or came back; peers are kept meanwhile.
    case backend(BackendState)
    /// A peer came, or has another state.
    case changed(Peer)
    /// A peer wants to be connected: `accept` or `decline` it, in 30 s.
    case invited(Peer)
    /// A message.
    case received([UInt8], from: Peer, Delivery)
}
