#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import DNSSD

struct ZoneTemplateCommand: LocalCommand {
    static let configuration = CommandConfiguration(
        commandName: "zone-template",
        abstract: "Prints what a DNS server needs so that services can be published in a zone.",
        discussion: """
            Its configuration, the zone's file, and what to do with them. The key that it grants can change services, leases, and hosts in a \
            sub-domain of their own; nothing else in the zone.

            Examples:
              discoverd zone-template bind --domain home.example.org --server-address 10.0.0.53
              discoverd zone-template knot --domain home.example.org --only configuration
            """
    )

    @Argument(help: "The server: bind, knot or powerdns.")
    var server: ZoneTemplate.Server

    @Option(name: .long, help: "The zone.", transform: Parsing.domain)
    var domain: Domain

    @Option(name: .long, help: ArgumentHelp("The key's name; default: discoverd.DOMAIN.", valueName: "name"))
    var key: String?

    @Option(
        name: .long,
        help: ArgumentHelp("An address of the name server. Repeatable.", valueName: "address"),
        transform: Parsing.address)
    var serverAddress: [IPAddress] = []

    @Option(name: .long, help: "Only one part: configuration or zone.")
    var only: Part?

    enum Part: String, CaseIterable, ExpressibleByArgument { case configuration, zone }

    func validate() throws {
        if domain.isWithin(.local) { throw ValidationError("The link's domain has no zone: name another.") }
        guard Self.isPlain(domain.text), isKeyPlain else {
            throw ValidationError("The zone and its key have letters, digits, hyphens, underscores and dots.")
        }
        try checkAddress()
    }

    private func checkAddress() throws {
        if serverAddress.isEmpty, only != .configuration {
            throw ValidationError(
                "Missing --server-address: the zone's file says where its server is, and none loads without that.")
        }
    }

    static var onlyPrints: Bool { true }

    func run(with more: (any MoreSupport)?) {
        let template = ZoneTemplate(
            server: server, domain: domain, key: key ?? "discoverd.\(domain)", addresses: serverAddress)
        switch only {
        case .configuration: print(template.configurationText, terminator: "")
        case .zone: print(template.zoneText, terminator: "")
        case nil: print(template.text, terminator: "")
        }
    }

    private var isKeyPlain: Bool { key.map { Self.isPlain($0) && (try? Domain($0)) != nil } ?? true }

    /// What needs no quoting in any of the servers' files.
    private static func isPlain(_ name: String) -> Bool {
        name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                true
            default: false
            }
        }
    }
}

extension ZoneTemplate.Server: ExpressibleByArgument {}
#endif
