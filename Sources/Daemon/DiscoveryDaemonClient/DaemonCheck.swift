internal import DiscoveryControl

/// What must pass for a registration to be offered, looked at by the daemon again and again (discoverd(1), `--check`).
public struct DaemonCheck: Hashable, Sendable {
    /// The check as the daemon reads it: `tcp`, `http:PATH`, `exec:COMMAND`, `unit:NAME.service`, `pid:NUMBER`.
    public var text: String
    /// How long between two looks; nil for the daemon's own. The daemon refuses what is out of its range.
    public var interval: Duration?
    /// How long one look may take; nil for the daemon's own.
    public var timeout: Duration?
    /// How many looks in a row must pass for the service to count as healthy; nil for the daemon's own.
    public var rise: Int?
    /// How many must fail for it to count as unhealthy; nil for the daemon's own.
    public var fall: Int?

    /// Creates a check of any kind. `exec:`, `unit:` and `pid:` need root or the daemon's user.
    public init(_ text: String) { self.text = text }

    /// The service's port on this machine accepts connections.
    public static let tcp = DaemonCheck("tcp")

    /// A GET request for a path to the service's port on this machine answers with a status of 200 to 399.
    public static func http(_ path: String) -> DaemonCheck { DaemonCheck("http:\(path)") }
}

extension DaemonCheck {
    var request: RegistrationRequest.Check {
        var check = RegistrationRequest.Check(text)
        check.intervalMilliseconds = interval.map(Self.milliseconds)
        check.timeoutMilliseconds = timeout.map(Self.milliseconds)
        (check.rise, check.fall) = (rise, fall)
        return check
    }

    static func milliseconds(_ duration: Duration) -> Int {
        let (seconds, attoseconds) = duration.components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        return overflow ? .max : Int(clamping: whole) + Int(attoseconds / 1_000_000_000_000_000)
    }
}
