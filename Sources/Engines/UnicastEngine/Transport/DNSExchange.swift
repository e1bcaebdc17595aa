package import DNSMessage
package import DNSSD

/// Carries DNS messages to servers, and brings back their answers after checking id, question, address and signature.
///
/// `DNSClient` does so over the network; tests of rules have an exchange of their own.
package protocol DNSExchange: Sendable {
    /// Asks one question.
    /// - Throws: `DNSFailure` if no server answers in time.
    func ask(_ question: Question, of whom: DNSTarget) async throws(DNSFailure) -> DNSAnswer

    /// Sends one update (RFC 2136), signed if there is a key, and waits for its answer.
    ///
    /// An unsigned answer to a signed update is not trusted (RFC 8945 §5.3): it is returned as a hint only if no signed
    /// one comes in time. The update may arrive twice.
    /// - Throws: `DNSFailure` if the server does not answer in time.
    func update(_ update: Message, at server: ServerAddress, key: TSIGKey?) async throws(DNSFailure) -> UpdateAnswer
}

/// The destination of a question.
package enum DNSTarget: Hashable, Sendable {
    /// The host's resolver, as /etc/resolv.conf names it.
    case resolver
    /// One server, at any of these addresses: at least one.
    case servers([ServerAddress])

    /// One server that has a single address.
    package static func server(_ address: ServerAddress) -> DNSTarget { .servers([address]) }
}

/// The address and port of a DNS server.
package struct ServerAddress: Hashable, Sendable {
    /// The server's address.
    package var address: IPAddress
    /// The server's UDP and TCP port.
    package var port: Port

    /// Creates a server's address.
    package init(_ address: IPAddress, port: Port) {
        self.address = address
        self.port = port
    }
}

/// A server's answer to a question, with any response code.
package struct DNSAnswer: Hashable, Sendable {
    /// The complete message; one that does not fit into a datagram comes over TCP.
    package var message: Message
    /// Whether a trusted resolver says that DNSSEC validated the answer (AD): one on this machine, or any with
    /// `trust-ad` in /etc/resolv.conf.
    package var isAuthenticated = false
    /// The server that answered.
    package var server: ServerAddress
}

/// A server's answer to an update.
package struct UpdateAnswer: Hashable, Sendable {
    /// The outcome, by the numbers of `ResponseCode` (RFC 2136 §2.2).
    package var responseCode: UInt16
    /// The error in the TSIG record: 16 bad signature, 17 unknown key, 18 wrong time (RFC 8945 §3); nil without one.
    package var signatureError: UInt16?
    /// Whether the server's signature is valid; always true if the update was sent without a key.
    package var isTrusted = true
    /// The server's clock, in seconds since 1970, if the server says that ours is wrong.
    package var serverTime: UInt64?
    /// Whether the update was sent twice, so that a condition may have failed because of the first.
    package var isRepeated = false
}

/// The reason why there is no answer; the text is for people.
package enum DNSFailure: Error, Hashable, Sendable {
    /// No server answered in time, or none could be reached.
    case silent(String)
    /// The system refused a file descriptor or memory, or too many messages wait.
    case system(String)
    /// The message cannot be sent: it is too long, or the package is built without the trait `Unicast`.
    case impossible(String)
}

extension DNSFailure {
    /// The same for whoever asked for a service or a zone.
    package var asDiscoveryError: DiscoveryError {
        switch self {
        case .silent(let reason): DiscoveryError(.backendUnavailable, reason)
        case .system(let reason): DiscoveryError(.systemRefused, reason)
        case .impossible(let reason): DiscoveryError(.misconfigured, reason)
        }
    }
}
