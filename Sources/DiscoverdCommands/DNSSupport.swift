#if Commands
package import CommandFrame
package import DNSMessage
package import DNSSD
package import Discovery

/// What `discoverd-dns` adds to the commands: services of other domains than `local`.
package struct DNSSupport: Sendable {
    /// An engine, and what its configuration says.
    package struct Engine: Sendable {
        package var engine: any DiscoveryEngine
        /// Domains that are configured or were named: their servers may name any address.
        package var configured: Set<Domain>
        /// The resolvers that this host names.
        package var resolvers: [String]

        package init(_ engine: any DiscoveryEngine, configured: Set<Domain>, resolvers: [String]) {
            self.engine = engine
            self.configured = configured
            self.resolvers = resolvers
        }
    }

    /// Makes an engine for a command.
    package var engine: @Sendable (DomainWish, ProgramNotices) throws -> Engine
    /// Checks the configured domains, and those that are named.
    package var check: @Sendable ([Domain]) async -> [DomainFinding]
    /// Asks a domain's server questions, and returns what it answers.
    package var records: @Sendable ([Question], DomainWish, ProgramNotices) async throws -> [ResourceRecord]

    package init(
        engine: @escaping @Sendable (DomainWish, ProgramNotices) throws -> Engine,
        check: @escaping @Sendable ([Domain]) async -> [DomainFinding],
        records: @escaping @Sendable ([Question], DomainWish, ProgramNotices) async throws -> [ResourceRecord]
    ) {
        self.engine = engine
        self.check = check
        self.records = records
    }
}

/// Which domains a command is about, and whom it names for them. A value.
package struct DomainWish: Hashable, Sendable {
    /// The domains.
    package var domains: [Domain] = [.local]
    /// The DNS server that was named: an address or a name, perhaps with a port.
    package var server: String?
    /// The file of the key that was named.
    package var keyFile: String?
    /// The command publishes there.
    package var publishes = false
    /// The command can do without those of other domains.
    package var isOptional = false

    /// Those that a DNS server serves.
    package var others: [Domain] { domains.filter { $0 != .local } }
    /// None of them is on the link.
    package var isOnlyOthers: Bool { !domains.contains(.local) }
    /// A server or a key was named on the command line, so that no daemon's settings count.
    package var isSpecial: Bool { server != nil || keyFile != nil }
}

/// What `doctor` finds of a domain.
package struct DomainFinding: Hashable, Sendable {
    package enum Verdict: Hashable, Sendable { case ok, warn, fail }

    package var verdict: Verdict
    /// What is the case; safe for a terminal.
    package var text: String
    /// What to do about it.
    package var advice: String?

    package init(_ verdict: Verdict, _ text: String, advice: String? = nil) {
        self.verdict = verdict
        self.text = text
        self.advice = advice
    }
}
#endif
