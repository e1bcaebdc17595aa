#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import DNSSD
internal import Discovery
internal import DiscoverySystem

/// Where to look or publish.
struct NetworkOptions: ParsableArguments {
    @Option(name: .long, help: InterfaceOptions.help, completion: InterfaceOptions.completion)
    var interface: [String] = []

    @Flag(name: [.customShort("4"), .customLong("ipv4")], help: "Use IPv4 only.")
    var ipv4 = false

    @Flag(name: [.customShort("6"), .customLong("ipv6")], help: "Use IPv6 only.")
    var ipv6 = false

    func validate() throws {
        try Parsing.validate { _ = try interfaces() }
        if ipv4 && ipv6 { throw ValidationError("-4 and -6 exclude each other; without them both are used.") }
    }

    /// The chosen interfaces.
    func interfaces() throws -> InterfaceFilter { try InterfaceFilter(interface) }

    /// How many links are asked: of the chosen interfaces, and of those with an address of the chosen family. Not `lo`, unless it is all
    /// there is.
    func linkCount() throws -> Int {
        SystemInterfaces.usable(by: try interfaces()).count { interface, families in
            interface.name != "lo" && families.contains { family == nil || $0 == family }
        }
    }

    /// The chosen address family; nil for both.
    var family: IPAddress.Family? { ipv4 ? .ipv4 : ipv6 ? .ipv6 : nil }
}

/// Exceptions to the rules about which addresses may be dialled.
struct PolicyOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "Dial addresses in this block, or with '!' do not: 203.0.113.0/24, '!10.0.0.0/8'. Repeatable.",
            valueName: "cidr"),
        transform: DialledBlock.init)
    var allow: [DialledBlock] = []

    @Option(name: .long, help: .hidden, transform: { try CIDR($0) })
    var deny: [CIDR] = []

    /// The policy for a service whose domain was named on the command line.
    /// - Parameter named: other domains that were named or configured.
    func policy(naming domain: Domain, and named: Set<Domain>) -> AddressPolicy {
        AddressPolicy(
            allow: allow.filter { !$0.isDenied }.map(\.block), deny: allow.filter(\.isDenied).map(\.block) + deny,
            namedDomains: domain == .local ? named : named.union([domain]))
    }
}

/// A block of addresses to dial, or after `!` not to dial.
struct DialledBlock: Sendable {
    let block: CIDR
    let isDenied: Bool

    init(_ text: String) throws {
        isDenied = text.hasPrefix("!")
        block = try CIDR(isDenied ? String(text.dropFirst()) : text)
    }
}

/// The DNS server to ask about a domain.
enum ServerOption {
    static let help = ArgumentHelp(
        "Ask this DNS server about the domain, not the host's resolver.", valueName: "host[:port]")

    fileprivate static func validate(_ server: String?, for domains: [Domain]) throws {
        if server != nil, domains == [.local] {
            throw ValidationError("--server is for another domain than local: name it with --domain.")
        }
    }
}

/// The domain to look in.
struct DomainOption: ParsableArguments {
    @Option(name: .long, help: "The domain; default: local.", transform: Parsing.domain)
    var domain: Domain = .local

    @Option(name: .long, help: ServerOption.help)
    var server: String?

    func validate() throws { try ServerOption.validate(server, for: [domain]) }

    var wish: DomainWish { DomainWish(domains: [domain], server: server) }
}

/// The domains to look in.
struct DomainsOption: ParsableArguments {
    @Option(
        name: .customLong("domain"), help: ArgumentHelp("A domain; default: local. Repeatable.", valueName: "domain"),
        transform: Parsing.domain)
    var named: [Domain] = []

    @Option(name: .long, help: ServerOption.help)
    var server: String?

    func validate() throws {
        if named.count > Self.limit { throw ValidationError("More than \(Self.limit) domains at a time.") }
        try ServerOption.validate(server, for: domains)
    }

    /// Each has a list of up to a hundred services of a type.
    private static let limit = 128

    /// Each once, in the order of the command line.
    var domains: [Domain] {
        named.isEmpty ? [.local] : named.uniqued()
    }

    var wish: DomainWish { DomainWish(domains: domains, server: server) }
}

/// The key for a domain.
struct KeyOption: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp("Sign with the key in this file, for a domain other than local.", valueName: "file"))
    var key: String?

    /// What is asked of the domain, with the key.
    func added(to wish: DomainWish) -> DomainWish {
        var wish = wish
        wish.keyFile = key
        wish.publishes = true
        return wish
    }
}
#endif
