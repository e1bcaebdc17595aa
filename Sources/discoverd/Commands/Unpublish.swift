internal import ArgumentParser
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

    @OptionGroup var service: InstanceArguments
    @OptionGroup var common: CommonOptions

    static var daemonUse: DaemonUse { .required }

    func execute(in session: Session) async throws -> ExitStatus {
        let instance = try service.instance()
        let own = try await session.registrations().filter { status in
            ServiceType(observed: status.type) == instance.type && Domain(observed: status.domain) == instance.domain
                && (status.name == instance.name.value || status.wanted == instance.name.value)
        }
        // The name now is meant first, for the wanted one may be another's by now.
        guard let one = own.first(where: { $0.name == instance.name.value }) ?? own.first else {
            throw CommandError(
                .notFound,
                "the daemon publishes no \"\(instance.name)\" of type \(instance.type)",
                advice: ["'discoverd ls' lists what it publishes."]
            )
        }
        let target = "/v1/registrations/\(QueryString.encode(one.id))"
        _ = try await session.requireDaemon().send(ControlClient.Request("DELETE", target))
        return .done
    }
}
