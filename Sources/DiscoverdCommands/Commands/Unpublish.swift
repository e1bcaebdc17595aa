#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import DNSSD
internal import DiscoveryControl

/// `discoverd unpublish`.
struct UnpublishCommand: NetworkCommand {
    static let configuration = CommandConfiguration(
        commandName: "unpublish",
        abstract: "Withdraws what was handed to the daemon.",
        discussion: """
            Examples:
              discoverd unpublish tony
              discoverd unpublish "Tony's web" _http._tcp
            """
    )

    @OptionGroup var service: ServiceArguments

    @Option(name: .long, help: "The domain; default: local.", transform: Parsing.domain)
    var domain: Domain = .local

    @OptionGroup var common: DaemonOptions

    static var daemonUse: DaemonUse { .required }

    func execute(in session: Session) async throws -> ExitStatus {
        let named = try service.named(in: domain)
        let name = try named?.name ?? service.observedName()
        let domain = named?.domain ?? domain
        let own = try await session.registrations().filter { status in
            (named == nil || ServiceType(observed: status.type) == named?.type)
                && Domain(observed: status.domain) == domain
                && (status.name == name.value || status.wanted == name.value)
        }
        // Prefer a match with the current name: by now the wanted name may belong to another service.
        let now = own.filter { $0.name == name.value }
        let meant = now.isEmpty ? own : now
        guard let one = meant.first else {
            throw CommandError(
                .notFound,
                "the daemon publishes no \"\(name)\"\(named.map { " of type \($0.type)" } ?? "")",
                advice: ["'discoverd ls' lists what it publishes."]
            )
        }
        guard named != nil || Set(meant.map(\.type)).count == 1 else {
            throw CommandError(
                .usage, "\(meant.count) services have the name \"\(name)\": say which by its type",
                advice: meant.map { "\(name.description) \($0.type.escapedForTerminal)" })
        }
        let target = "/v1/registrations/\(QueryString.encode(one.id))"
        _ = try await session.requireDaemon().send(ControlClient.Request("DELETE", target))
        return .done
    }
}
#endif
