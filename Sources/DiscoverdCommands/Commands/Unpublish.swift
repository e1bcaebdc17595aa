#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import DNSSD
internal import DiscoveryControl

/// `discoverd unpublish`.
struct UnpublishCommand: NetworkCommand {
    static let configuration = CommandConfiguration(
        commandName: "unpublish",
        abstract: "Withdraws what was handed to the daemon: a service, or the addresses of a host.",
        discussion: """
            Examples:
              discoverd unpublish tony
              discoverd unpublish "Tony's web" _http._tcp
              discoverd unpublish printer.local
            """
    )

    @OptionGroup var service: ServiceArguments

    @Option(name: .long, help: "The domain; default: local.", transform: Parsing.domain)
    var domain: Domain = .local

    @OptionGroup var common: DaemonOptions

    func needs() -> CommandNeeds { .daemon }

    func execute(in session: Session) async throws -> ExitStatus {
        for one in try await service.registrations(in: domain, session) {
            let target = "/v1/registrations/\(QueryString.encode(one.id))"
            _ = try await session.requireDaemon().send(ControlClient.Request("DELETE", target))
        }
        return .done
    }
}
#endif
