#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import DNSSD
internal import Discovery
internal import DiscoveryControl

/// What a service to publish says of itself.
struct OfferOptions: ParsableArguments {
    @Option(
        name: .long, help: "The type; default: _witap._tcp.", completion: DaemonCandidates.types,
        transform: Parsing.type)
    var type: ServiceType?

    @OptionGroup var txt: TXTOptions

    /// The service with this name and port, and with the type's subtype before others.
    func service(
        _ name: ServiceName, port: Port, subtypes: [String] = [], in domain: Domain, at place: NetworkOptions
    ) throws -> OfferedService {
        let type = try type ?? ServiceType(DefaultType.text)
        return OfferedService(
            name: name,
            type: type,
            domain: domain,
            port: port,
            txt: try txt.record(),
            subtypes: (type.subtype.map { [$0] } ?? []) + subtypes,
            interfaces: try place.interfaces(),
            family: place.family
        )
    }

    /// Writes what its publisher may not have meant.
    func tellDoubts(of service: OfferedService, in session: Session) {
        if type == nil { session.notices.notice(DefaultType.notice(port: service.port)) }
        for warning in service.txt.warnings { session.notices.notice(warning) }
    }
}

/// The service's TXT strings; within each option, in the order of the command line.
struct TXTOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp("A TXT string: KEY=VALUE, KEY= or KEY. Repeatable.", valueName: "key=value")
    )
    var txt: [String] = []

    @Option(
        name: .customLong("txt-base64"),
        help: ArgumentHelp("A TXT value of any bytes, in base64. Repeatable.", valueName: "key=base64")
    )
    var txtBase64: [String] = []

    /// The record.
    /// - Throws: `.invalidTXTRecord` with the rule that was broken.
    func record() throws -> TXTRecord {
        var record = TXTRecord()
        for argument in txt { try record.append(argument: argument) }
        for argument in txtBase64 { try record.append(base64Argument: argument) }
        return record
    }
}

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
