#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import DiscoveryControl

/// The check that a service must pass to be advertised.
struct CheckOptions: ParsableArguments {
    @Option(
        name: .customLong("check"),
        help: ArgumentHelp(
            "Advertise only while this passes: tcp, http:PATH, exec:CMD, unit:NAME, pid:N.", valueName: "check")
    )
    var text: String?

    @Option(
        name: .customLong("check-interval"),
        help: ArgumentHelp("Time between two checks; default: 10.", valueName: "seconds"),
        transform: Parsing.seconds
    )
    var interval: Duration?

    @Option(
        help: ArgumentHelp("Passes in a row after which it is advertised again.", valueName: "n"),
        transform: Parsing.count)
    var rise: Int?

    @Option(
        help: ArgumentHelp("Failures in a row after which it is withdrawn.", valueName: "n"), transform: Parsing.count)
    var fall: Int?

    func validate() throws {
        if text == nil, interval != nil || rise != nil || fall != nil {
            throw ValidationError("--check-interval, --rise and --fall need a --check.")
        }
    }

    /// The requested check, if any.
    var check: RegistrationRequest.Check? {
        guard let text else { return nil }
        var check = RegistrationRequest.Check(text)
        check.intervalMilliseconds = interval.map { Int($0.milliseconds) }
        check.rise = rise
        check.fall = fall
        return check
    }
}
#endif
