#if Commands
internal import CommandFrame
internal import DNSSD
internal import Discovery
internal import DiscoveryControl
internal import DiscoveryJSON

/// Everything a running command works with.
struct Session {
    let invocation: Invocation
    let network: LocalNetwork
    /// The daemon, or why there is none for a command that wants it; nil where none is used or answers.
    let contact: Result<ControlClient, CommandError>?
    /// Asks DNS servers; nil where this command does not.
    let servers: DNSEngine?
    let output: Output
    let notices: ProgramNotices
    let stop: Stop
    let watcher: Watcher
    let terminal: Terminal
    /// What `discoverd-daemon` adds; nil in the program that has none.
    let more: (any MoreSupport)?

    var jsonVersion: JSONVersion? { invocation.json }
    var json: Bool { jsonVersion != nil }
    /// The daemon, if one is used and answers.
    var daemon: ControlClient? { try? contact?.get() }
    /// Only DNS servers are asked: no backend of this machine.
    var isUnicast: Bool { invocation.needs.domains.isOnlyOthers }
    /// Domains whose servers may name any address.
    var namedDomains: Set<Domain> { (servers?.configured ?? []).union(invocation.needs.domains.others) }
}

extension Session {
    /// The status of a command whose stream ended, or that `stop` ended.
    func status(found: Bool, backend: BackendGate) async throws -> ExitStatus {
        switch stop.cause {
        case .signal, .unread: return .done
        case .programEnded(let status): return status
        case .failed(let error): throw error
        case .noBackend, .timedOut, nil:
            if stop.cause != .noBackend, backend.isOpen {
                // That a domain has nothing is for its server to say.
                if !found, let reason = backend.silentServer { throw BackendGate.silence(reason) }
                return found ? .done : .notFound
            }
            guard backend.reason == nil, await daemon?.finds() == true else { throw backend.failure }
            return found ? .done : .notFound
        }
    }

    /// Why a list that has not settled may lack something; nil where neither time nor an absence ended it.
    /// - Parameter absence: why nothing answers. A daemon whose backend is gone still answers with what it knew.
    func shortfall(_ status: ExitStatus, _ absence: String?) -> String? {
        guard stop.cause == nil || stop.cause == .timedOut else { return nil }
        if status == .done, let absence { return absence }
        return stop.cause == .timedOut ? "the list was not complete when its time was over" : nil
    }

    /// Reports a failure after which the command goes on.
    func tell(_ failure: CommandError) throws {
        try output.flush()
        FailureReport(notices: notices, version: jsonVersion).tell(failure)
    }

    /// Prints a record.
    func show(_ record: Record) throws {
        for line in record.lines(for: terminal) { try output.line(line) }
    }

    /// The daemon, for a command that requires it.
    func requireDaemon() throws(CommandError) -> ControlClient {
        guard let daemon else { throw noDaemon }
        return daemon
    }

    /// Why there is none.
    var noDaemon: CommandError {
        if case .failure(let error) = contact { return error }
        return .noDaemon(ControlSocketPath.candidates(explicit: nil), "this command asks it")
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

extension ControlClient {
    /// Whether the daemon's finder answers. A daemon with no events to send does not say so by itself.
    func finds() async -> Bool {
        guard let answer = try? await send(ControlClient.Request("GET", "/v1/status"), within: .seconds(2)),
            let state = (try? JSONReader.read(answer))?["finder"]?["state"]?.string
        else { return false }
        return state == "available" || state == "recovered"
    }
}
#endif
