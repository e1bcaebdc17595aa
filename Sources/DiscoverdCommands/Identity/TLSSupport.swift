#if Commands
package import CommandFrame
package import PeerIdentity

/// What the program with TLS adds to the commands: connections between machines that know each other's keys.
package struct TLSSupport: Sendable {
    /// What a command asks for.
    package struct Wish: Hashable, Sendable {
        /// Who is let in.
        package var trust: PeerTrust = .known
        /// A person may be asked.
        package var asks = true
        /// The longest that a handshake takes; nil: as long as a person needs.
        package var limit: Duration?
    }

    /// Who is at the other end of a connection.
    package enum Role: Hashable, Sendable {
        /// Someone who was dialled by name.
        case calling(PeerName)
        /// Someone who was dialled to be paired, and goes by what it says of itself.
        case meeting
        /// Someone who dialled in.
        case answering
    }

    /// A connection with TLS, as a socket for what is said in it.
    package struct Link: Sendable {
        /// The socket; it belongs to whoever gets this.
        package let descriptor: Int32
        /// The peer: the name that was dialled, or its own claim.
        package let peer: PeerName
        /// Its key.
        package let key: KeyFingerprint
        /// Waits until all is said on both sides, and tells why it ended early; nil if it did not.
        package let end: @Sendable () async -> CommandError?

        package init(
            descriptor: Int32, peer: PeerName, key: KeyFingerprint, end: @escaping @Sendable () async -> CommandError?
        ) {
            self.descriptor = descriptor
            self.peer = peer
            self.key = key
            self.end = end
        }
    }

    /// This machine's key, for people.
    package struct Identity: Sendable {
        package let fingerprint: KeyFingerprint
        package let label: String
        package let path: String

        package init(fingerprint: KeyFingerprint, label: String, path: String) {
            self.fingerprint = fingerprint
            self.label = label
            self.path = path
        }
    }

    /// Wraps a connection; the socket belongs to it from then on.
    package var secure: @Sendable (Int32, Role, Wish, ProgramNotices) async throws(CommandError) -> Link
    /// This machine's key, made if there is none.
    package var identity: @Sendable () throws(CommandError) -> Identity
    /// Begins to pair with the peer of a connection that was wrapped, by its key.
    package var pairing: @Sendable (PairingExchange.Role, KeyFingerprint) throws(CommandError) -> PairingExchange
    /// For names that are hashed.
    package var hmac: HashedName.HMAC

    package init(
        hmac: @escaping HashedName.HMAC,
        secure: @escaping @Sendable (Int32, Role, Wish, ProgramNotices) async throws(CommandError) -> Link,
        identity: @escaping @Sendable () throws(CommandError) -> Identity,
        pairing: @escaping @Sendable (PairingExchange.Role, KeyFingerprint) throws(CommandError) -> PairingExchange
    ) {
        self.hmac = hmac
        self.secure = secure
        self.identity = identity
        self.pairing = pairing
    }
}
#endif
