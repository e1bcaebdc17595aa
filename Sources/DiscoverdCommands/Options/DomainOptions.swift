#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import DNSSD

/// Whom to ask about a domain.
struct ServerOption: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp("Ask this DNS server about the domain, not the host's resolver.", valueName: "host[:port]")
    )
    var server: String?
}

/// The domain to look in.
struct DomainOption: ParsableArguments {
    @Option(name: .long, help: "The domain; default: local.", transform: Parsing.domain)
    var domain: Domain = .local

    @OptionGroup var server: ServerOption

    func validate() throws { try server.validate(for: [domain]) }

    var wish: DomainWish { DomainWish(domains: [domain], server: server.server) }
}

/// The domains to look in.
struct DomainsOption: ParsableArguments {
    @Option(
        name: .customLong("domain"), help: ArgumentHelp("A domain; default: local. Repeatable.", valueName: "domain"),
        transform: Parsing.domain)
    var named: [Domain] = []

    @OptionGroup var server: ServerOption

    func validate() throws {
        if named.count > Self.limit { throw ValidationError("More than \(Self.limit) domains at a time.") }
        try server.validate(for: domains)
    }

    /// Each has a list of up to a hundred services of a type.
    private static let limit = 128

    /// Each once, in the order of the command line.
    var domains: [Domain] {
        var known: Set<Domain> = []
        let unique = named.filter { known.insert($0).inserted }
        return unique.isEmpty ? [.local] : unique
    }

    var wish: DomainWish { DomainWish(domains: domains, server: server.server) }
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

extension ServerOption {
    fileprivate func validate(for domains: [Domain]) throws {
        if server != nil, domains == [.local] {
            throw ValidationError("--server is for another domain than local: name it with --domain.")
        }
    }
}
#endif
