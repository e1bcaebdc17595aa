#if Commands
internal import CommandFrame
internal import DNSSD
internal import Discovery
internal import DiscoveryControl
internal import DiscoveryJSON

/// Runs `publish --detach`: hands the service to the daemon and reports the outcome.
struct Detaching {
    let session: Session
    let request: RegistrationRequest
    let timeout: Duration?

    func run() async throws -> ExitStatus {
        let limit = timeout ?? .seconds(5)
        var writer = JSONWriter()
        writer.request(request)
        let seconds = max(1, min(30, (limit.milliseconds + 999) / 1000))
        let answer = try await session.requireDaemon().send(
            ControlClient.Request("POST", "/v1/registrations?wait=\(seconds)", body: writer.bytes),
            within: limit + .seconds(2)
        )
        guard let json = try? JSONReader.read(answer), let status = RegistrationStatus(json) else {
            throw CommandError(.noBackend, "the daemon's answer is not understood")
        }
        try show(status, json["changed"].flatMap { RegistrationChange($0) })
        return .done
    }

    private func show(_ status: RegistrationStatus, _ change: RegistrationChange?) throws {
        if session.json {
            try session.output.json { json in
                json.line("published") { object in
                    object.registrationMembers(status)
                    guard let change else { return }
                    object.key("changed")
                    object.registrationChange(change)
                }
            }
        } else {
            let state = status.state == .established ? "published" : status.state.rawValue
            let offer = PublishedText.of(request.service, as: ServiceName(observed: status.name))
            let changes = change.map { " (changed: \($0.texts.joined(separator: ", ")))" } ?? ""
            try session.output.line("\(state) \(offer)\(changes)")
            // What it says comes before why.
            try session.output.flush()
            if let reason = status.reason ?? status.warning { session.notices.notice(reason.escapedForTerminal) }
        }
    }
}
#endif
