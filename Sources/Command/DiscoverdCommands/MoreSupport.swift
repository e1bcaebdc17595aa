#if Commands
package import CommandFrame
package import DNSMessage
package import DNSSD
package import Discovery
package import DiscoveryControl
package import PeerIdentity

/// What `discoverd-daemon` adds to the commands: services of other domains than `local`, connections between machines that know each other's
/// keys, and the page.
package protocol MoreSupport: Sendable {
    /// Makes an engine that asks DNS servers, for a command.
    func engine(for wish: DomainWish, _ notices: ProgramNotices) throws -> DNSEngine

    /// Checks the configured domains, and those that are named.
    func check(_ domains: [Domain]) async -> [DoctorFinding]

    /// Asks the servers of domains questions, and returns what they answer.
    /// - Throws: what is wrong with the configuration or the wish; nothing was asked then.
    func records(_ questions: [Question], of wish: DomainWish, _ notices: ProgramNotices) async throws
        -> ServerAnswers

    /// Wraps a connection; the socket belongs to it from then on.
    func secure(
        _ socket: Int32, as role: TLSRole, _ wish: TLSWish, _ notices: ProgramNotices
    ) async throws(CommandError) -> SecuredConnection

    /// This machine's key, made if there is none.
    func identity() throws(CommandError) -> OwnKey

    /// Begins to pair with the peer of a connection that was wrapped, by its key.
    func pairing(_ role: PairingExchange.Role, with key: KeyFingerprint) throws(CommandError) -> PairingExchange

    /// For names that are hashed.
    var hmac: HashedName.HMAC { get }

    /// Serves the page at a port of the loopback address, 0 for a free one, until the task is cancelled.
    /// - Parameter serving: receives the page's URL, once it is served.
    func serve(_ source: PageSource, at port: UInt16, _ serving: @escaping @Sendable (String) async -> Void)
        async throws
}

/// An engine that asks DNS servers, and what its configuration says.
package struct DNSEngine: Sendable {
    package let engine: any DiscoveryEngine
    /// Domains that are configured: their servers may name any address.
    package let configured: Set<Domain>
    /// The resolvers that this host names.
    package let resolvers: [String]

    package init(_ engine: any DiscoveryEngine, configured: Set<Domain>, resolvers: [String]) {
        (self.engine, self.configured, self.resolvers) = (engine, configured, resolvers)
    }
}

/// What DNS servers say to questions.
package struct ServerAnswers: Sendable {
    package var records: [ResourceRecord] = []
    /// Why names, or types of them, have no answer: a server is silent, or fails.
    package var failures: [DomainName: DiscoveryError] = [:]

    package init() {}

    package mutating func add(_ other: ServerAnswers) {
        records += other.records
        failures.merge(other.failures) { first, _ in first }
    }
}

/// What a command asks of TLS.
package struct TLSWish: Hashable, Sendable {
    /// Who is let in.
    package var trust: PeerTrust = .known
    /// A person may be asked.
    package var asks = true
    /// The longest that a handshake takes; nil: as long as a person needs.
    package var limit: Duration?
}

/// Who is at the other end of a connection.
package enum TLSRole: Hashable, Sendable {
    /// Someone who was dialled by name.
    case calling(PeerName)
    /// Someone who was dialled to be paired, and goes by what it says of itself.
    case meeting
    /// Someone who dialled in.
    case answering
}

/// A connection with TLS, with a socket for its plain bytes.
package struct SecuredConnection: Sendable {
    /// The socket; it belongs to whoever gets this.
    package let descriptor: Int32
    /// The peer: the name that was dialled, or its own claim.
    package let peer: PeerName
    /// Its key.
    package let key: KeyFingerprint
    /// Waits until both sides have ended; returns why the connection ended early, or nil if it did not.
    package let end: @Sendable () async -> CommandError?

    package init(
        descriptor: Int32, peer: PeerName, key: KeyFingerprint, end: @escaping @Sendable () async -> CommandError?
    ) {
        (self.descriptor, self.peer, self.key, self.end) = (descriptor, peer, key, end)
    }
}

/// This machine's key, for people.
package struct OwnKey: Sendable {
    package let fingerprint: KeyFingerprint
    package let label: String
    package let path: String

    package init(fingerprint: KeyFingerprint, label: String, path: String) {
        (self.fingerprint, self.label, self.path) = (fingerprint, label, path)
    }
}

/// What the page shows.
package struct PageSource: Sendable {
    package let network: LocalNetwork
    /// What finds services, in a word.
    package let finder: String
    /// The daemon, if one is asked.
    package let daemon: ControlClient?
}
#endif
