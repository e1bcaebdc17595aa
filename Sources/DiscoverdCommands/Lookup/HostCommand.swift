#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import DNSSD

struct HostCommand: NetworkCommand {
    static let configuration = CommandConfiguration(
        commandName: "host",
        abstract: "Looks up the addresses of hosts, and the names of addresses.",
        discussion: """
            Prints what was asked, an address or a name, and the interface; link-local addresses with their scope. The status is 1 when \
            one of several was not found. Names of addresses are asked for on the links; names outside local are asked of DNS servers.

            Examples:
              discoverd host printer.local
              discoverd host 192.168.1.20 fe80::1%eth0
              discoverd host printer.local -4 --json
            """
    )

    @Argument(help: ArgumentHelp("A name, or an address.", valueName: "name|address"), transform: HostArgument.init)
    var hosts: [HostArgument]

    @OptionGroup var time: LookupTime
    @OptionGroup var place: NetworkOptions
    @OptionGroup var common: LookupOptions

    /// Each takes two questions.
    private static let mostHosts = 128

    func needs() throws -> CommandNeeds {
        CommandNeeds(
            daemon: .never, domains: DomainWish(asking: hosts.map(\.question), server: nil),
            interfaces: try place.interfaces(), ending: .init(status: .notFound))
    }

    func validate() throws {
        if hosts.count > Self.mostHosts { throw ValidationError("More than \(Self.mostHosts) hosts at a time.") }
    }

    func execute(in session: Session) async throws -> ExitStatus {
        try await HostLookup(session, place, within: time.limit).show(hosts) ? .done : .notFound
    }
}
#endif
