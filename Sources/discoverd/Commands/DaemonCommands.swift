internal import ArgumentParser
internal import DNSSD
internal import DiscoveryControl
internal import DiscoveryJSON

extension Session {
    /// The daemon, for a command that cannot do without.
    func requireDaemon() throws(CommandError) -> ControlClient {
        guard let daemon else { throw .noDaemon(ControlSocketPath.candidates(explicit: nil), "this command asks it") }
        return daemon
    }

    /// What the daemon answers to a GET.
    func ask(_ target: String) async throws -> JSONValue {
        let bytes = try await requireDaemon().send(ControlClient.Request("GET", target))
        guard let json = try? JSONReader.read(bytes) else {
            throw CommandError(.noBackend, "the daemon's answer is not understood")
        }
        return json
    }

    /// What the daemon publishes.
    func registrations() async throws -> [RegistrationStatus] {
        try await (ask("/v1/registrations")["registrations"]?.array ?? []).compactMap { RegistrationStatus($0) }
    }
}

struct LsCommand: NetworkCommand {
    static let configuration = CommandConfiguration(
        commandName: "ls",
        abstract: "Lists what the daemon publishes.",
        discussion: """
            Each line has the state, the name, the type, the port, where it comes from, and why it is not established.

            Examples:
              discoverd ls
              discoverd ls --json | jq -r .name
            """
    )

    @OptionGroup var common: CommonOptions

    static var daemonUse: DaemonUse { .required }

    func execute(in session: Session) async throws -> ExitStatus {
        for status in try await session.registrations() {
            if session.json {
                try session.output.json { json in
                    json.object { $0.registrationMembers(status) }
                    json.endLine()
                }
            } else {
                try session.output.line(Self.record(status, session.terminal))
            }
        }
        return .done
    }

    static func record(_ status: RegistrationStatus, _ terminal: Terminal) -> String {
        var record = Record()
        record.add(status.state, width: 11, colour: status.state == "established" ? .green : .yellow)
        record.add(status.name, width: 24)
        record.add(safe: status.type, width: 16)
        record.add("\(status.port)", width: 5)
        record.add(status.origin.rawValue, width: 13)
        record.add(status.name == status.wanted ? "" : "wanted \"\(status.wanted)\"", width: 0)
        record.add(status.reason ?? status.warning ?? "", width: 0)
        return record.line(for: terminal)
    }
}

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

struct ReloadCommand: NetworkCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Has the daemon read its configuration anew.",
        discussion:
            "What did not change stays published. A configuration that is wrong is told with file and line, and the old one stays."
    )

    @OptionGroup var common: CommonOptions

    static var daemonUse: DaemonUse { .required }

    func execute(in session: Session) async throws -> ExitStatus {
        _ = try await session.requireDaemon().send(ControlClient.Request("POST", "/v1/reload", body: []))
        return .done
    }
}
