/// The one error that the library throws: a code for programs, a message for people.
///
/// The message names the thing ("_witap": no transport) rather than the layer; branch on `code`, never on the text.
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
        /// No such network interface, or a pattern that can match none.
        public static let invalidInterface = Code("invalid-interface")
        /// Nothing answers for mDNS on this machine.
        public static let backendUnavailable = Code("backend-unavailable")
        /// The backend answered with an error of its own.
        public static let backendFailed = Code("backend-failed")
        /// The name is taken and renaming was not wanted, or was tried too often.
        public static let nameTaken = Code("name-taken")
        /// No such service.
        public static let notFound = Code("not-found")
        /// Not done within the time that was allowed.
        public static let timedOut = Code("timed-out")
        /// A limit of the server that was asked was reached: it takes no more records of one type.
        public static let serverLimitReached = Code("server-limit-reached")
        /// What is configured cannot work: the key, the zone or the server is not what it should be.
        public static let misconfigured = Code("misconfigured")
        /// The addresses were withheld on the way, by a resolver that protects against rebinding.
        public static let addressesWithheld = Code("addresses-withheld")
        /// A limit of this process or of the backend was reached.
        public static let limitExceeded = Code("limit-exceeded")
        /// The system refused: no thread, no file descriptor, no process.
        public static let systemRefused = Code("system-refused")
        /// It was found, and none of its addresses could be connected to.
        public static let unreachable = Code("unreachable")
        /// Not permitted by a policy.
        public static let notPermitted = Code("not-permitted")
        /// The engine was shut down.
        public static let closed = Code("closed")

        package init(_ description: String) { self.description = description }
    }

    /// What went wrong.
    public let code: Code
    /// A sentence for people: the offending part and the rule it broke, already safe for a terminal.
    public let message: String

    /// Creates an error.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }
}
