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
        name: .customLong("type"),
        help: ArgumentHelp(
            "The type, optionally with subtypes: _http._tcp,_printer; default: _witap._tcp.", valueName: "type"),
        completion: DaemonCandidates.types, transform: OfferedType.init)
    var kind: OfferedType?

    var type: ServiceType? { kind?.type }

    /// The service with this name and port, and with the type's subtype before others.
    func service(
        _ name: ServiceName, port: Port, txt: TXTOptions, subtypes: [String] = [], in domain: Domain,
        at place: NetworkOptions
    ) throws -> OfferedService {
        let type = try type ?? ServiceType(DefaultType.text)
        return OfferedService(
            name: name, type: type, domain: domain, port: port, txt: try txt.record(),
            subtypes: (type.subtype.map { [$0] } ?? []) + (kind?.subtypes ?? []) + subtypes,
            interfaces: try place.interfaces(),
            family: place.family)
    }

    /// Writes what its publisher may not have meant.
    func tellDoubts(of service: OfferedService, in session: Session) {
        if type == nil { session.notices.notice(DefaultType.notice(port: service.port)) }
        for warning in service.txt.warnings { session.notices.notice(warning) }
    }
}

/// `_http._tcp,_printer`: a type, and subtypes under which the service is published too (as dns-sd(1) writes them).
struct OfferedType: Sendable {
    let type: ServiceType
    let subtypes: [String]

    init(_ text: String) throws {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        type = try Parsing.type(parts[0])
        subtypes = try parts.dropFirst().map { try Parsing.subtype($0) }
    }
}

/// The service's TXT strings; within each option, in the order of the command line.
struct TXTOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "A TXT string: KEY=VALUE, KEY= or KEY; KEY@./FILE or KEY@/FILE takes the value from a file. Repeatable.",
            valueName: "key=value"))
    var txt: [String] = []

    @Option(name: .customLong("txt-base64"), help: .hidden)
    var txtBase64: [String] = []

    /// The record.
    /// - Throws: `.invalidTXTRecord` with the rule that was broken.
    func record() throws -> TXTRecord {
        var record = TXTRecord()
        for argument in txt {
            if let (key, file) = Self.file(in: argument) {
                try record.append(key: key, value: Self.content(of: file))
            } else {
                try record.append(argument: argument)
            }
        }
        for argument in txtBase64 { try record.append(base64Argument: argument) }
        return record
    }

    /// `KEY@/FILE`, `KEY@./FILE`: what follows the sign is a path by its first character, so that a key may have an `@`.
    private static func file(in argument: String) -> (key: String, file: String)? {
        let key = argument.prefix { $0 != "@" && $0 != "=" }
        let rest = argument.dropFirst(key.count)
        guard !key.isEmpty, rest.hasPrefix("@/") || rest.hasPrefix("@./") || rest.hasPrefix("@../") else { return nil }
        return (String(key), String(rest.dropFirst()))
    }

    private static func content(of file: String) throws -> [UInt8] {
        do {
            // A string of a TXT record has 255 bytes with its key: what is longer is refused then.
            return try SystemFile.read(file, atMost: 256)
        } catch {
            throw Parsing.Failure("\(file.escapedForTerminal): \(error)")
        }
    }
}

/// The check that a service must pass to be advertised.
struct CheckOptions: ParsableArguments {
    @Option(
        name: .customLong("check"),
        help: ArgumentHelp(
            "Publish only while this passes: tcp or http:PATH at the port, exec:CMD, unit:NAME, pid:N. May end with ,every=SECONDS (10) ,rise=N passes (2) ,fall=N failures (3).",
            valueName: "check"),
        transform: Self.check)
    var given: RegistrationRequest.Check?

    @Option(name: .customLong("check-interval"), help: .hidden, transform: Parsing.seconds)
    var interval: Duration?

    @Option(help: .hidden, transform: Parsing.count)
    var rise: Int?

    @Option(help: .hidden, transform: Parsing.count)
    var fall: Int?

    func validate() throws {
        if given == nil, interval != nil || rise != nil || fall != nil {
            throw ValidationError("--check-interval, --rise and --fall need a --check.")
        }
    }

    /// The requested check, if any.
    var check: RegistrationRequest.Check? {
        guard var check = given else { return nil }
        check.intervalMilliseconds = interval.map { Int($0.milliseconds) } ?? check.intervalMilliseconds
        check.rise = rise ?? check.rise
        check.fall = fall ?? check.fall
        return check
    }

    /// `tcp,every=5,rise=1`: a check, and at its end how often and how patiently.
    static func check(_ text: String) throws -> RegistrationRequest.Check {
        var check = RegistrationRequest.Check(text)
        while let comma = check.text.lastIndex(of: ",") {
            let words = check.text[comma...].dropFirst().split(separator: "=", maxSplits: 1).map(String.init)
            guard words.count == 2 else { break }
            switch words[0] {
            case "every": check.intervalMilliseconds = Int(try Parsing.seconds(words[1]).milliseconds)
            case "rise": check.rise = try Parsing.count(words[1])
            case "fall": check.fall = try Parsing.count(words[1])
            default: return check
            }
            check.text = String(check.text[..<comma])
        }
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
