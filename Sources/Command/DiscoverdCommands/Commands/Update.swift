#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import DNSSD
internal import DiscoveryControl
internal import DiscoveryJSON

/// `discoverd update`, of the version before: `publish --detach` once more does it.
struct UpdateCommand: NetworkCommand {
    static let configuration = CommandConfiguration(
        commandName: "update",
        abstract: "Replaces the TXT record of a service that the daemon publishes.",
        discussion: "Instead: 'discoverd publish NAME PORT --detach' once more, with the new --txt.",
        shouldDisplay: false)

    @OptionGroup var service: ServiceArguments

    @Option(name: .long, help: "The domain; default: local.", transform: Parsing.domain)
    var domain: Domain = .local

    @OptionGroup var txt: TXTOptions
    @OptionGroup var common: DaemonOptions
    @OptionGroup var output: OutputOptions

    func needs() -> CommandNeeds { .daemon }

    func validate() throws {
        if txt.txt.isEmpty, txt.txtBase64.isEmpty { throw ValidationError("Say the new record: --txt KEY=VALUE.") }
    }

    func execute(in session: Session) async throws -> ExitStatus {
        let record = try txt.record()
        for warning in record.warnings { session.notices.notice(warning) }
        guard let one = try await service.registrations(in: domain, session).first else { return .notFound }
        var writer = JSONWriter()
        writer.txt(record)
        let target = "/v1/registrations/\(QueryString.encode(one.id))/txt"
        _ = try await session.requireDaemon().send(ControlClient.Request("PUT", target, body: writer.bytes))
        return .done
    }
}

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
    @OptionGroup var output: OutputOptions

    func needs() -> CommandNeeds { .daemon }

    func validate() throws {
        // The addresses of a host can be withdrawn.
        if service.type == nil, WordKind(service.name) != .host {
            try WordKind.requireService(service.name, for: "unpublish withdraws", listedBy: "status --services")
        }
    }

    func execute(in session: Session) async throws -> ExitStatus {
        for one in try await service.registrations(in: domain, session) {
            let target = "/v1/registrations/\(QueryString.encode(one.id))"
            _ = try await session.requireDaemon().send(ControlClient.Request("DELETE", target))
        }
        return .done
    }
}
#endif
