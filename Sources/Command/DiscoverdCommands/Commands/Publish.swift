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
        usage: """
            discoverd publish [<options>] <name> <port|address> -- [<cmd> ...]
            discoverd publish [<options>] --alias <host>
            """,
        discussion: """
            It is withdrawn when the command ends. With --detach the daemon keeps it, across restarts too, until 'discoverd unpublish'. With -- CMD the \
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
              discoverd publish --alias wiki --alias shop.wiki
                                        wiki.local and shop.wiki.local lead to this machine
              discoverd publish --alias wiki --domain home.example.org
            """
    )

    @Argument(
        help: "The name, 1 to 63 bytes; before an address, a host's. One that begins with a hyphen follows --.")
    var name: String?

    @Argument(
        help: ArgumentHelp(
            "The port on which the service listens: 1 to 65535; or an address of a host, without a service.",
            valueName: "port|address"),
        transform: PortOrAddress.init)
    var port: PortOrAddress?

    @Argument(parsing: .postTerminator, help: ArgumentHelp("A program to publish for.", valueName: "cmd"))
    var program: [String] = []

    @OptionGroup var offer: OfferOptions
    @OptionGroup var txt: TXTOptions

    @Option(name: .long, help: .hidden, transform: Parsing.subtype)
    var subtype: [String] = []

    @Option(
        name: .long, help: "The machine that it is on, such as printer.local; default: this one.",
        transform: Parsing.hostName)
    var host: HostName?

    @Option(
        name: .long,
        help: ArgumentHelp("An address to publish for --host, or one more of a host. Repeatable.", valueName: "ip"),
        transform: Parsing.address)
    var address: [IPAddress] = []

    @Flag(name: .customLong("address-record"), help: .hidden)
    var isOfHost = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            "A further name of this machine, beside the service or alone: wiki for wiki.local. Repeatable.",
            valueName: "host"),
        transform: Parsing.alias)
    var alias: [String] = []

    /// No service is published but the address of a host, without a name for the address.
    private var addressRecord: Bool {
        guard case .address? = port, let name else { return isOfHost }
        return WordKind(CommandLineArguments.unmarked(name)) == .host || isOfHost
    }

    /// The further names, which are in the domain that is named behind them, too.
    private func aliases() throws -> [OfferedAlias] {
        try alias.map { try OfferedAlias($0, in: domain.domain) }.uniqued()
    }

    /// The alias that the service is on.
    private func hostAlias() throws -> OfferedAlias? {
        let host = host.flatMap { try? OfferedAlias($0.text, in: domain.domain) }
        return try aliases().first { $0 == host }
    }

    /// No service is published but further names of this machine.
    private var isAliasAlone: Bool { name == nil && port == nil && !alias.isEmpty }

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
        help: "Hand it to the daemon, which keeps it across restarts, and return once it is published, or withheld."
    )
    var detach = false

    @OptionGroup var checking: CheckOptions
    @OptionGroup var domain: DomainOption
    @OptionGroup var place: NetworkOptions
    @OptionGroup var key: KeyOption
    @OptionGroup var common: CommonOptions
    @OptionGroup var output: OutputOptions

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
        if isAliasAlone { return try validateAliasAlone() }
        guard let name, let port else {
            throw ValidationError("<port|address> is missing: 'discoverd publish NAME PORT', and perhaps --alias HOST.")
        }
        if case .word(let word) = port { throw ValidationError(refusal(of: word, after: name)) }
        if host == nil && !addressRecord && !address.isEmpty {
            throw ValidationError("--address needs --host, whose address it is.")
        }
        if addressRecord { try validateAddressRecord() }
        if offer.type == nil, !addressRecord { try WordKind.requireNewName(name, for: "publish") }
        try Parsing.validate { _ = try aliases() }
        if host != nil, try hostAlias() == nil, checking.check?.looksAtThisMachine == true {
            throw ValidationError("--check tcp and http look at this machine, not at --host.")
        }
        if detach && !program.isEmpty { throw ValidationError("--detach and a program after -- exclude each other.") }
        try Parsing.validate { _ = try offers(name, port) }
    }

    func execute(in session: Session) async throws -> ExitStatus {
        let offers = try self.offers(name, port)
        if let service = offers.first, !service.isAddressRecord { offer.tellDoubts(of: service, in: session) }
        for doubt in offers.flatMap(AddressDoubts.of) { session.notices.notice(doubt) }
        let policy: ConflictPolicy = onConflict == .fail || addressRecord ? .fail : .rename
        if detach {
            let requests = offers.map {
                RegistrationRequest($0, onConflict: policy, check: $0.isAlias ? nil : check)
            }
            return try await Detaching(session: session, requests: requests, timeout: timeout).run()
        }
        let program = try DiscoverdCommand.arguments().program
        if let name = program.first { try ChildProcess.checkExistence(of: name) }
        var run = Publishing(session: session, program: program, timeout: timeout, isChecked: check != nil)
        return try await run.run(offers.map { session.network.publish($0, onConflict: policy) })
    }

    private func validateAliasAlone() throws {
        let ofServices = try [("--address-record", isOfHost), ("--address", !address.isEmpty)] + ofServices()
        if let option = ofServices.first(where: { $0.1 }) {
            throw ValidationError("\(option.0) is for a service, and an alias alone is none.")
        }
        if detach && !program.isEmpty { throw ValidationError("--detach and a program after -- exclude each other.") }
        try Parsing.validate { _ = try offers(nil, nil) }
    }

    /// What only a service has, and whether it is given.
    private func ofServices() throws -> [(option: String, isGiven: Bool)] {
        let record = try txt.record()
        return [
            ("--type", offer.type != nil), ("--txt", !record.isEmpty), ("--subtype", !subtype.isEmpty),
            ("--host", host != nil), ("--check", check != nil),
        ]
    }

    private func validateAddressRecord() throws {
        let ofServices =
            try [("--on-conflict rename", onConflict == .rename), ("--domain", domain.domain != .local)] + ofServices()
        if let option = ofServices.first(where: { $0.1 }) {
            throw ValidationError("\(option.0) is for a service, and an address record is none.")
        }
    }

    /// What is wrong with a word that is neither a port nor an address.
    private func refusal(of word: String, after name: String) -> String {
        if case .type(let type) = WordKind(name) {
            return
                "\(name.quotedForMessage) is a type: 'discoverd publish \(word.escapedForTerminal) PORT --type \(type)'."
        }
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

    /// What is published: the service or the address record, if there is one, and the aliases.
    private func offers(_ name: String?, _ port: PortOrAddress?) throws -> [OfferedService] {
        // One that the service is on comes with it.
        let hostAlias = try hostAlias()
        let aliases = try aliases().filter { $0 != hostAlias }.map { alias in
            try OfferedService(alias: alias, interfaces: place.interfaces(), family: place.family)
        }
        guard let name, let port else { return aliases }
        return [try service(name, port)] + aliases
    }

    private func service(_ name: String, _ what: PortOrAddress) throws -> OfferedService {
        let port: Port
        switch (what, addressRecord) {
        case (.port(let number), false): port = number
        case (.address(let first), true):
            return try OfferedService(
                addressesOf: OfferedHost(
                    name: .ofLink(CommandLineArguments.unmarked(name)), addresses: [first] + address),
                interfaces: place.interfaces(), family: place.family)
        case (.port(let number), true):
            throw ValidationError("\(number) is no IPv4 or IPv6 address, which follows the host's name.")
        case (.word(let word), _): throw ValidationError(refusal(of: word, after: name))
        case (.address(let address), false):
            let host = try? HostName.ofLink(name)
            throw ValidationError(
                "\(address) is an address, which follows a host's name"
                    + (host.map { ": 'discoverd publish \($0) \(address)'." } ?? "."))
        }
        var service = try offer.service(
            Parsing.name(name), port: port, txt: txt, subtypes: subtype, in: domain.domain, at: place)
        if let hostAlias = try hostAlias() {
            guard address.isEmpty else {
                throw ValidationError("--address is of another host, and \(hostAlias.name) is this machine.")
            }
            service.host = OfferedHost(alias: hostAlias)
        } else {
            service.host = try host.map { name throws(DiscoveryError) in try OfferedHost(name: name, addresses: address)
            }
        }
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
