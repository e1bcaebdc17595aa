#if Commands
internal import CommandFrame
internal import DiscoveryControl
internal import DiscoveryJSON

extension Session {
    /// The daemon, for a command that requires it.
    func requireDaemon() throws(CommandError) -> ControlClient {
        guard let daemon else { throw noDaemon }
        return daemon
    }

    /// Why there is none.
    var noDaemon: CommandError {
        whyNoDaemon ?? .noDaemon(ControlSocketPath.candidates(explicit: nil), "this command asks it")
    }

    /// The daemon's answer to a GET request.
    func ask(_ target: String) async throws -> JSONValue {
        let bytes = try await requireDaemon().send(ControlClient.Request("GET", target))
        guard let json = try? JSONReader.read(bytes) else {
            throw CommandError(.noBackend, "the daemon's answer is not understood")
        }
        return json
    }

    /// The services that the daemon publishes.
    func registrations() async throws -> [RegistrationStatus] {
        try await (ask("/v1/registrations")["registrations"]?.array ?? []).compactMap { RegistrationStatus($0) }
    }
}
#endif
