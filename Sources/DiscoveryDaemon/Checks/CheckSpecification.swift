public import DNSSD

/// What is to work for a service to be advertised, and how often that is looked at.
public struct CheckSpecification: Hashable, Sendable {
    /// What is looked at.
    public enum Kind: Hashable, Sendable {
        /// A connection to the service's port on this machine.
        case tcp
        /// An HTTP/1.1 GET of this path at the service's port on this machine; 2xx and 3xx pass.
        case http(path: String)
        /// A program with its arguments, started without a shell; status 0 passes.
        case exec(command: [String])
        /// A systemd unit that is active.
        case unit(String)
        /// A process that runs.
        case pid(Int32)
    }

    /// How often a check may be made.
    public static let intervals: ClosedRange<Duration> = .milliseconds(100) ... .seconds(86_400)
    /// How long one check may take.
    public static let timeouts: ClosedRange<Duration> = .milliseconds(50) ... .seconds(300)
    /// How many results in a row may be asked for.
    public static let counts = 1...100

    /// It connects to this machine: of a service of another it says nothing.
    public var looksAtThisMachine: Bool {
        switch kind {
        case .tcp, .http: true
        case .exec, .unit, .pid: false
        }
    }

    /// What is looked at.
    public let kind: Kind
    /// From the start of one check to the start of the next.
    public let interval: Duration
    /// After this one check has failed.
    public let timeout: Duration
    /// Passes in a row after which a failing service is advertised again.
    public let rise: Int
    /// Failures in a row after which a service is withdrawn.
    public let fall: Int

    /// Creates a specification from checked parts.
    /// - Throws: `.invalidCheck` for a value outside of its range, or a kind with a path, command, unit or process that
    ///   cannot be.
    public init(
        _ kind: Kind, interval: Duration = .seconds(10), timeout: Duration = .seconds(2), rise: Int = 2, fall: Int = 3
    ) throws(DiscoveryError) {
        try Self.validate(kind)
        try Self.validate(interval, in: Self.intervals, named: "interval")
        try Self.validate(timeout, in: Self.timeouts, named: "timeout")
        try Self.validate(rise, in: Self.counts, named: "rise")
        try Self.validate(fall, in: Self.counts, named: "fall")
        self.kind = kind
        self.interval = interval
        self.timeout = timeout
        self.rise = rise
        self.fall = fall
    }

    private static func validate<Value: Comparable>(
        _ value: Value, in range: ClosedRange<Value>, named name: String
    ) throws(DiscoveryError) {
        guard range.contains(value) else {
            throw DiscoveryError(
                .invalidCheck, "the check's \(name) \(value) is not in \(range.lowerBound) to \(range.upperBound)")
        }
    }
}
