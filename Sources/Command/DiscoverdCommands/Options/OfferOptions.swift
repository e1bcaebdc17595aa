#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import DNSSD
internal import Discovery
internal import DiscoveryControl
internal import DiscoverySystem

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
            name: name, type: type, domain: domain, port: port, txt: try txt.record(),
            subtypes: (type.subtype.map { [$0] } ?? []) + subtypes, interfaces: try place.interfaces(),
            family: place.family)
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
        name: .long, help: ArgumentHelp("A TXT string: KEY=VALUE, KEY= or KEY. Repeatable.", valueName: "key=value"))
    var txt: [String] = []

    @Option(
        name: .customLong("txt-base64"),
        help: ArgumentHelp("A TXT value of any bytes, in base64. Repeatable.", valueName: "key=base64"))
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
            "Advertise only while this passes: tcp, http:PATH, exec:CMD, unit:NAME, pid:N.", valueName: "check"))
    var text: String?

    @Option(
        name: .customLong("check-interval"),
        help: ArgumentHelp("Time between two checks; default: 10.", valueName: "seconds"), transform: Parsing.seconds)
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

/// Addresses that are published for another host, and that discoverd on other hosts does not dial, or not everywhere: they may be meant, as
/// programs without an address policy dial them.
enum AddressDoubts {
    /// A line for each, safe for a terminal; none without a link.
    static func of(_ service: OfferedService) -> [String] {
        let local = LocalAddresses.system()
        return of(service, on: SystemInterfaces.usable(by: service.interfaces).map(\.interface), local)
    }

    static func of(_ service: OfferedService, on links: [NetworkInterface], _ local: LocalAddresses) -> [String] {
        guard let host = service.host else { return [] }
        let links = links.filter { !local.loopbacks.contains($0) }
        return host.addresses.compactMap { address in
            let doubts = links.map { doubt(about: address, on: $0, local) }
            guard let first = doubts.first, let doubt = first, doubts.allSatisfy({ $0 != nil }) else { return nil }
            return "discoverd on other hosts \(doubt)"
        }
    }

    /// What holds for all readers: their routes are unknown, but hosts on the link share its networks.
    private static func doubt(
        about address: IPAddress, on link: NetworkInterface, _ local: LocalAddresses
    ) -> String? {
        guard let port = Port(rawValue: 9) else { return nil }
        var scoped = address
        if case .v6(let v6, _) = address, address.isLinkLocal { scoped = .v6(v6, scope: link.index) }
        let endpoint = Endpoint(address: scoped, port: port, interface: link)
        let refusal = AddressPolicy().refusal(of: endpoint, isOwn: false, local: local, routes: NoRoutes())
        guard let refusal else { return nil }
        guard refusal.canBeAllowed else { return "never dials \(address): \(refusal)" }
        if address.isNAT64 { return "does not dial \(address) by default: \(refusal)" }
        if local.isOnLink(scoped, link) { return nil }
        let place = "the link on which it sees the service"
        return address.isPrivate
            ? "dials \(address) only where a route to it leaves by \(place)"
            : "dials \(address) only where it is in a network of \(place)"
    }

    private struct NoRoutes: RouteLookup {
        func route(to address: IPAddress) -> Route? { nil }
    }
}
#endif
