#if TLS
public import DiscoveryTLS
#endif

/// Why an operation of a session failed.
public struct SessionError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of error. More may be added; switch with a `default`.
    public struct Code: Hashable, Sendable {
        let text: String

        /// A message has more than `PeerSession.maximumMessageLength` bytes.
        public static let messageTooLong = Code(text: "message-too-long")
        /// No such peer is there, or it is not connected.
        public static let noSuchPeer = Code(text: "no-such-peer")
        /// The peer was invited and said no.
        public static let declined = Code(text: "declined")
        /// The peer did not answer in time, or its host could not be reached.
        public static let unreachable = Code(text: "unreachable")
        /// One side does not trust the other's key, or speaks no TLS where the other does.
        public static let notTrusted = Code(text: "not-trusted")
        /// The peer's data breaks the protocol.
        public static let malformed = Code(text: "malformed")
        /// The session is over, or the task was cancelled.
        public static let ended = Code(text: "ended")
    }

    /// The kind of error.
    public let code: Code
    /// For people; safe for a terminal.
    public let message: String
    #if TLS
    /// The reason for `.notTrusted`, if this side knows it.
    public private(set) var refusal: PeerRefusal?
    #endif

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    #if TLS
    init(_ refusal: PeerRefusal) {
        self.init(.notTrusted, refusal.description)
        self.refusal = refusal
    }
    #endif

    /// The message.
    public var description: String { message }
}
