#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import CommandText
internal import DNSSD
internal import Discovery
internal import DiscoveryControl

struct PublishCommand: NetworkCommand {
    static let configuration = CommandConfiguration(
        commandName: "publish",
        abstract: "Publishes a service until it is stopped, or with --detach for good.",
        discussion: """
            It is withdrawn when the command ends. With --detach the daemon keeps it, over restarts too, until 'discoverd unpublish'. With -- CMD the \
            service is published while CMD runs; CMD starts once it is published.

            Examples:
              discoverd publish tony 9000
              discoverd publish "Tony's web" 8080 --type _http._tcp --txt path=/x
              discoverd publish web 8080 --type _http._tcp -- python3 -m http.server 8080
              discoverd publish web 8080 --type _http._tcp --detach --check http:/
                                        kept by the daemon, while GET / succeeds
              discoverd publish web 8080 --type _http._tcp --domain home.example.org --key pub.key
              discoverd publish Laser 631 --type _ipp._tcp --host printer.local --address 10.0.0.9
              discoverd publish printer.local 10.0.0.9
            """
    )

    @Argument(
        help: "The name: 1 to 63 bytes; before an address a host's. One that begins with a hyphen follows --.")
    var name: String

    @Argument(
        help: ArgumentHelp(
            "The port on which the service listens: 1 to 65535; or an address of a host, without a service.",
            valueName: "port|address"),
        transform: PortOrAddress.init)
    var port: PortOrAddress

    @Argument(parsing: .postTerminator, help: ArgumentHelp("A program to publish for.", valueName: "cmd"))
    var program: [String] = []

    @OptionGroup var offer: OfferOptions

    @Option(name: .long, help: .hidden, transform: Parsing.subtype)
    var subtype: [String] = []

    @Option(
        name: .long, help: "The machine that it is on, as printer.local; default: this one.",
        transform: Parsing.hostName)
    var host: HostName?

    @Option(
        name: .long,
        help: ArgumentHelp("An address to publish for --host, or one more of a host. Repeatable.", valueName: "ip"),
        transform: Parsing.address)
    var address: [IPAddress] = []

    @Flag(name: .customLong("address-record"), help: .hidden)
    var isOfHost = false

    /// No service is published but the address of a host, without a name for the address.
    private var addressRecord: Bool {
        if case .address = port, WordKind(CommandLineArguments.unmarked(name)) == .host { true } else { isOfHost }
    }

    @Option(
        name: .long,
        help: "When the name is taken: rename, to 'tony #2', or fail, with status 73; default: rename.")
    var onConflict: OnConflict?

    @Option(
        name: .long,
        help: ArgumentHelp("Give up with status 1 if not published by then.", valueName: "seconds"),
        transform: Parsing.seconds)
    var timeout: Duration?

    @Flag(
        name: .long,
        help: "Hand it to the daemon, which keeps it over restarts, and return once it is published, or withheld."
    )
    var detach = false

    @OptionGroup var checking: CheckOptions
    @OptionGroup var domain: DomainOption
    @OptionGroup var place: NetworkOptions
    @OptionGroup var key: KeyOption
    @OptionGroup var common: CommonOptions

    enum OnConflict: String, CaseIterable, ExpressibleByArgument {
        case rename, fail
    }

    private var check: RegistrationRequest.Check? { checking.check }

    func needs() throws -> CommandNeeds {
        let why = detach ? "--detach hands the service to it" : check.map { _ in "--check is done by it" }
        return CommandNeeds(
            daemon: why.map { .required($0) } ?? .ifPresent, domains: key.added(to: domain.wish),
            interfaces: try place.interfaces(), publishes: true, check: check, ending: .publishing())
    }

    func validate() throws {
        if case .word(let word) = port { throw ValidationError(refusal(of: word)) }
        if host == nil && !addressRecord && !address.isEmpty {
            throw ValidationError("--address needs --host, whose address it is.")
        }
        if addressRecord { try validateAddressRecord() }
        if offer.type == nil, !addressRecord { try WordKind.requireNewName(name, for: "publish") }
        if host != nil, checking.check?.looksAtThisMachine == true {
            throw ValidationError("--check tcp and http look at this machine, not at --host.")
        }
        if detach && !program.isEmpty { throw ValidationError("--detach and a program after -- exclude each other.") }
        try Parsing.validate { _ = try service() }
    }

    func execute(in session: Session) async throws -> ExitStatus {
        let service = try service()
        if !addressRecord { offer.tellDoubts(of: service, in: session) }
        for doubt in AddressDoubts.of(service) { session.notices.notice(doubt) }
        let policy: ConflictPolicy = onConflict == .fail || addressRecord ? .fail : .rename
        if detach {
            let request = RegistrationRequest(service, onConflict: policy, check: check)
            return try await Detaching(session: session, request: request, timeout: timeout).run()
        }
        var run = Publishing(
            session: session, service: service, program: try DiscoverdCommand.arguments().program, timeout: timeout,
            isChecked: check != nil)
        return try await run.run(session.network.publish(service, onConflict: policy))
    }

    private func validateAddressRecord() throws {
        let txt = try offer.txt.record()
        let ofServices = [
            ("--type", offer.type != nil), ("--txt", !txt.isEmpty), ("--subtype", !subtype.isEmpty),
            ("--on-conflict rename", onConflict == .rename), ("--host", host != nil), ("--check", check != nil),
            ("--domain", domain.domain != .local),
        ]
        if let option = ofServices.first(where: { $0.1 }) {
            throw ValidationError("\(option.0) is for a service, and an address record is none.")
        }
    }

    /// What is wrong with a word that is neither a port nor an address.
    private func refusal(of word: String) -> String {
        let swapped = "'discoverd publish \(word.escapedForTerminal) \(name.escapedForTerminal)'"
        if IPAddress(name) != nil, word.contains("."), (try? HostName(word)) != nil {
            return "\(word.quotedForMessage) is a host, which stands before its address: \(swapped)."
        }
        let isAddress = word.contains { ".:".contains($0) }
        let order = Int(name) == nil ? "" : "; NAME stands before PORT: \(swapped)"
        return isAddress
            ? "\(word.quotedForMessage) is no IPv4 or IPv6 address, and no port."
            : "port \(word.quotedForMessage) is not a number in 1 to 65535\(order)."
    }

    private func service() throws -> OfferedService {
        let port: Port
        switch (self.port, addressRecord) {
        case (.port(let number), false): port = number
        case (.address(let first), true):
            return try OfferedService(
                addressesOf: OfferedHost(
                    name: .ofLink(CommandLineArguments.unmarked(name)), addresses: [first] + address),
                interfaces: place.interfaces(), family: place.family)
        case (.port(let number), true):
            throw ValidationError("\(number) is no IPv4 or IPv6 address, which follows the host's name.")
        case (.word(let word), _): throw ValidationError(refusal(of: word))
        case (.address(let address), false):
            let host = try? HostName.ofLink(name)
            throw ValidationError(
                "\(address) is an address, which follows a host's name"
                    + (host.map { ": 'discoverd publish \($0) \(address)'." } ?? "."))
        }
        var service = try offer.service(Parsing.name(name), port: port, subtypes: subtype, in: domain.domain, at: place)
        service.host = try host.map { name throws(DiscoveryError) in try OfferedHost(name: name, addresses: address) }
        return service
    }
}

/// What follows the name in `publish`: a service's port, or a host's address.
enum PortOrAddress: Hashable, Sendable {
    case port(Port)
    case address(IPAddress)
    /// Neither; said once the name is known, which may stand in the port's place.
    case word(String)

    init(_ text: String) throws {
        if let address = IPAddress(text) {
            self = .address(address)
        } else if Int(text) == nil {
            self = .word(text)
        } else {
            self = .port(try Parsing.port(text))
        }
    }
}

extension HostName {
    /// A name of one label is below `local`.
    static func ofLink(_ text: String) throws(DiscoveryError) -> HostName {
        try HostName(text.contains(".") ? text : text + ".local")
    }
}
#endif
