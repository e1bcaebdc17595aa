package import DNSMessage
package import DNSSD

/// Carries DNS messages to servers, and back what belongs to them: id, question, address and signature are checked.
///
/// `DNSClient` does it over the network; tests of rules have one of their own.
package protocol DNSExchange: Sendable {
    /// Asks one question.
    /// - Throws: `DNSFailure` when no server has answered in time.
    func ask(_ question: Question, of whom: DNSTarget) async throws(DNSFailure) -> DNSAnswer

    /// Sends one update (RFC 2136), signed where there is a key, and waits for its answer.
    ///
    /// An answer without a signature is not believed (RFC 8945 §5.3): it is returned, as a hint, only when no signed one has come in time.
    /// The same update may arrive twice.
    /// - Throws: `DNSFailure` when the server has not answered in time.
    func update(_ update: Message, at server: ServerAddress, key: TSIGKey?) async throws(DNSFailure) -> UpdateAnswer
}

/// Who is asked.
package enum DNSTarget: Hashable, Sendable {
    /// The host's resolver, as /etc/resolv.conf names it.
    case resolver
    /// One server.
    case server(ServerAddress)
}

/// Where a DNS server is.
package struct ServerAddress: Hashable, Sendable {
    /// Its address.
    package var address: IPAddress
    /// Its UDP and TCP port.
    package var port: Port

    /// An address and a port.
    package init(_ address: IPAddress, port: Port) {
        self.address = address
        self.port = port
    }
}

/// A server's answer to a question, with any response code.
package struct DNSAnswer: Hashable, Sendable {
    /// The message, whole: what did not fit in a datagram came over TCP.
    package var message: Message
    /// DNSSEC says that it is genuine (AD), and who says so is on this machine, or /etc/resolv.conf has `trust-ad`.
    package var isAuthenticated: Bool
    /// Who answered.
    package var server: ServerAddress

    /// An answer of these parts.
    package init(message: Message, isAuthenticated: Bool = false, server: ServerAddress) {
        self.message = message
        self.isAuthenticated = isAuthenticated
        self.server = server
    }
}

/// A server's answer to an update.
package struct UpdateAnswer: Hashable, Sendable {
    /// 0: done; 5: refused; 6 to 8: a prerequisite does not hold; 9: no authority, or no such key; 10: not in the zone (RFC 2136 §2.2).
    package var responseCode: UInt16
    /// The error within the TSIG record: 16 bad signature, 17 unknown key, 18 wrong time (RFC 8945 §3); nil without one.
    package var signatureError: UInt16?
    /// The server's signature was there, and is right. Always true of what was asked without a key.
    package var isTrusted: Bool
    /// The server's clock, in seconds since 1970, where it says that ours is wrong.
    package var serverTime: UInt64?

    /// An answer of these parts.
    package init(
        responseCode: UInt16, signatureError: UInt16? = nil, isTrusted: Bool = true, serverTime: UInt64? = nil
    ) {
        self.responseCode = responseCode
        self.signatureError = signatureError
        self.isTrusted = isTrusted
        self.serverTime = serverTime
    }
}

/// Why there is no answer.
package enum DNSFailure: Error, Hashable, Sendable {
    /// Nobody has answered in time, or nobody could be reached; the reason is for people.
    case silent(String)
    /// The system refused: no file descriptor, no thread.
    case system(String)
    /// The message could not be sent as it is: too long, or built without the trait `Unicast`.
    case impossible(String)
}
