/// The error that the library throws: a code for programs and a message for people.
///
/// The message names the thing that is wrong (`"_witap": no transport`), not the layer. Branch on `code`, never on the
/// text.
public struct DiscoveryError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What went wrong. The set may grow; switch with a `default`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// A stable name for logs and JSON.
        public let description: String

        /// A service type breaks RFC 6335 §5.1 or RFC 6763 §7.
        public static let invalidServiceType = Code("invalid-service-type")
        /// An instance name breaks RFC 6763 §4.1.1.
        public static let invalidServiceName = Code("invalid-service-name")
        /// A domain breaks RFC 1035 §2.3.4.
        public static let invalidDomain = Code("invalid-domain")
        /// A host name breaks RFC 1035 §2.3.4.
        public static let invalidHostName = Code("invalid-host-name")
        /// A TXT record breaks RFC 6763 §6.
        public static let invalidTXTRecord = Code("invalid-txt-record")
        /// A port is outside 1 to 65535.
        public static let invalidPort = Code("invalid-port")
        /// Text is not an IP address.
        public static let invalidAddress = Code("invalid-address")
        /// There is no such network interface, or a pattern is malformed.
        public static let invalidInterface = Code("invalid-interface")
        /// There is no socket of a daemon.
        public static let noDaemon = Code("no-daemon")
        /// A health check cannot be carried out as it is written.
        public static let invalidCheck = Code("invalid-check")
        /// The backend does not answer.
        public static let backendUnavailable = Code("backend-unavailable")
        /// The backend answered with an error of its own.
        public static let backendFailed = Code("backend-failed")
        /// The name is taken, and the policy forbids renaming or too many names were tried.
        public static let nameTaken = Code("name-taken")
        /// The service was not found.
        public static let notFound = Code("not-found")
        /// The time limit passed.
        public static let timedOut = Code("timed-out")
        /// The server's limit was reached: it accepts no more records of one type.
        public static let serverLimitReached = Code("server-limit-reached")
        /// The configuration cannot work: the key, the zone or the server is wrong.
        public static let misconfigured = Code("misconfigured")
        /// A resolver on the way withheld the addresses, to protect against DNS rebinding.
        public static let addressesWithheld = Code("addresses-withheld")
        /// A limit of this process or of the backend was reached.
        public static let limitExceeded = Code("limit-exceeded")
        /// The system refused a thread, a file descriptor or a process.
        public static let systemRefused = Code("system-refused")
        /// The service was found, but none of its addresses could be connected to.
        public static let unreachable = Code("unreachable")
        /// A policy forbids it.
        public static let notPermitted = Code("not-permitted")
        /// The engine was shut down, or the task was cancelled.
        public static let closed = Code("closed")

        package init(_ description: String) { self.description = description }
    }

    /// What went wrong.
    public let code: Code
    /// A sentence for people that names the offending part and the rule it breaks; safe for a terminal.
    public let message: String

    /// Creates an error.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }
}

/// The rule that a text breaks. The caller adds the text and a code to make it a `DiscoveryError`.
package struct BrokenRule: Error, Hashable {
    /// The rule, safe for a terminal, without an initial capital or a full stop.
    package let rule: String

    init(_ rule: String) { self.rule = rule }
}

extension DiscoveryError {
    /// Creates an error with the message `"the text": the rule that it breaks`.
    init(_ code: Code, _ text: String, _ broken: BrokenRule) {
        self.init(code, "\(text.quotedForMessage): \(broken.rule)")
    }
}

extension String {
    /// The text in double quotes for a message: escaped for a terminal, and cut after 80 scalars.
    package var quotedForMessage: String {
        let limit = 80
        let start = unicodeScalars.prefix(limit + 1)
        guard start.count > limit else { return "\"\(escapedForTerminal)\"" }
        return "\"\(String(start.dropLast()).escapedForTerminal)…\""
    }
}
