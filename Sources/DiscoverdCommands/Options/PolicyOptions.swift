#if Commands
internal import ArgumentParser
internal import DNSSD
internal import Discovery

/// Exceptions to the rules about which addresses may be dialled.
struct PolicyOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "Dial addresses in this block, whatever the rules say: 203.0.113.0/24. Repeatable.", valueName: "cidr"),
        transform: { try CIDR($0) }
    )
    var allow: [CIDR] = []

    @Option(
        name: .long,
        help: ArgumentHelp("Do not dial addresses in this block. Repeatable.", valueName: "cidr"),
        transform: { try CIDR($0) }
    )
    var deny: [CIDR] = []

    /// The policy for a service whose domain was named on the command line.
    /// - Parameter named: other domains that were named or configured.
    func policy(naming domain: Domain, and named: Set<Domain>) -> AddressPolicy {
        AddressPolicy(allow: allow, deny: deny, namedDomains: domain == .local ? named : named.union([domain]))
    }
}
#endif
