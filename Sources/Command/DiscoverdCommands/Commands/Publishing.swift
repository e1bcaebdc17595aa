#if Commands
internal import CommandFrame
internal import DNSSD
internal import Discovery
internal import DiscoveryControl
internal import DiscoveryJSON

/// Runs `publish`: reports the name's status, starts a program once the name is established, withdraws at the end.
struct Publishing {
    let session: Session
    let service: OfferedService
    /// The program to publish for, byte for byte; empty for none.
    let program: [[UInt8]]
    /// Standard output belongs to something else.
    var tellsOnStandardError = false
    /// Called once it is established, instead of all other output.
    var announce: ((PublicationStatus) -> Void)?

    /// The service may have to wait for its check; that is not the backend's fault.
    let isChecked: Bool

    /// Created when the publication first has to wait for the backend; before that, `registering` says nothing about it.
    private var gate: BackendGate?
    private var deadline: Task<Void, Never>?
    private var child: ChildProcess?
    private var isEstablished = false

    init(session: Session, service: OfferedService, program: [[UInt8]], timeout: Duration?, isChecked: Bool) {
        (self.isChecked, self.session, self.service, self.program) = (isChecked, session, service, program)
        if session.isUnicast { gate = BackendGate(session) }
        deadline = timeout.map { session.stop.request(.timedOut, after: $0) }
    }

    mutating func run(_ publication: Publication) async throws -> ExitStatus {
        do {
            for await status in publication.updates { try handle(status) }
        } catch {
            await finish(publication)
            throw error
        }
        await finish(publication)
        return try status(of: session.stop.cause)
    }

    private func status(of cause: Stop.Cause?) throws -> ExitStatus {
        switch cause {
        case .programEnded(let status): return status
        case .failed(let error): throw error
        case .noBackend: throw gate?.failure ?? .noBackend(nil)
        case .timedOut:
            let reason = gate.flatMap { $0.isOpen ? nil : $0.reason }.map { ": \($0)" } ?? ""
            throw CommandError(.notFound, "\"\(service.name)\" could not be published within the time allowed\(reason)")
        case .signal, .unread, nil: return .done
        }
    }

    private mutating func handle(_ status: PublicationStatus) throws {
        switch status.state {
        case .waiting(let reason):
            guard !isChecked else {
                session.notices.notice("not advertised: \(reason)")
                return try show(status, .waiting, reason: reason)
            }
            // Once established, the service stays published however long the backend is away.
            if gate == nil, !isEstablished { gate = BackendGate(session) }
            gate?.note(.unavailable(reason))
            tellOfWaiting(reason)
            try show(status, .waiting, reason: reason)
        case .registering:
            // A DNS server is asked from here on. It has answered where the name is another one now.
            if !session.isUnicast || status.name != service.name { gate?.answered() }
            try show(status, .registering)
        case .established:
            gate?.answered()
            deadline?.cancel()
            isEstablished = true
            try show(status, .established)
            try startProgram()
        case .refused(let error):
            gate?.answered()
            session.notices.notice("not published: \(error.message); it is tried again")
            try show(status, status.state.named, reason: error.message)
        case .conflicted(let error):
            try show(status, .conflicted, isOver: true, reason: error.message)
            throw CommandError(
                .cannotCreate, error.message,
                advice: [
                    service.isAddressRecord
                        ? "Choose another name: hosts of the same name would answer for each other."
                        : "Choose another name, or let it be renamed: --on-conflict rename."
                ])
        case .failed(let error):
            try show(status, .failed, isOver: true, reason: error.message)
            // There is a backend: someone else withdrew the service with `unpublish`.
            if error.code == .closed { throw CommandError(.notFound, error.message) }
            throw error
        case .withdrawn: break
        }
    }

    private mutating func tellOfWaiting(_ reason: String) {
        guard isEstablished else { return session.notices.detail("nothing publishes yet: \(reason)") }
        session.notices.notice("\(reason); the service is published again as soon as that is possible")
    }

    /// Keeps offering the service if the reader is gone.
    private func show(
        _ status: PublicationStatus, _ state: RegistrationStatus.State, isOver: Bool = false, reason: String? = nil
    ) throws {
        if let announce {
            if state == .established { announce(status) }
            return
        }
        let subject: JSONVersion.Subject = isOver ? .ended : .event
        if tellsOnStandardError { return tell(status, state, as: subject, reason: reason) }
        do {
            if session.json {
                try session.output.json(subject) {
                    $0.publishedLine(service, name: status.name, state: state.rawValue, reason: reason)
                }
            } else if state == .established {
                try session.output.line(established(status))
            }
            try session.output.flush()
        } catch is Output.Unread {
            session.notices.detail("nobody reads standard output any more")
        }
    }

    private func tell(
        _ status: PublicationStatus, _ state: RegistrationStatus.State, as subject: JSONVersion.Subject, reason: String?
    ) {
        if let version = session.jsonVersion {
            let line = version.line(subject) {
                $0.publishedLine(service, name: status.name, state: state.rawValue, reason: reason)
            }
            ProgramNotices.write(line)
        } else if state == .established {
            session.notices.notice(established(status))
        }
    }

    private func established(_ status: PublicationStatus) -> String {
        "published \(PublishedText.of(service, as: status.name))"
    }

    private mutating func startProgram() throws {
        guard !program.isEmpty, child == nil else { return }
        let stop = session.stop
        let forwarder = SignalForwarder()
        session.watcher.forwardSignals { signal in
            // The terminal signals the whole process group, so the program already has it.
            if !signal.isFromTerminal { forwarder.forward(signal.number) }
        }
        let child = try ChildProcess(program)
        self.child = child
        forwarder.started(child)
        try child.whenEnded { stop.request(.programEnded($0)) }
    }

    /// Withdraws the service, and ends the program if the publication ended first. Runs in a task of its own: this one may be cancelled,
    /// and the goodbye must still be sent.
    private func finish(_ publication: Publication) async {
        child?.end()
        let isWithdrawn = await Task { await publication.withdraw(waitingAtMost: .milliseconds(1500)) }.value
        if case .withdrawn = publication.status.state { try? show(publication.status, .withdrawn) }
        if !isWithdrawn { session.notices.detail("the withdrawal was not confirmed in time") }
    }
}

/// What is published, for people.
enum PublishedText {
    /// The service and its port, or the host and its addresses; and the wanted name, if another was taken.
    static func of(_ service: OfferedService, as name: ServiceName) -> String {
        if service.isAddressRecord, let host = service.host {
            return "\(host.name) address \(host.addresses.map(\.description).joined(separator: ", "))"
        }
        let instance = ServiceInstance(name: name, type: service.type, domain: service.domain)
        let renamed = name == service.name ? "" : " (renamed: \"\(service.name)\" is taken)"
        return "\(instance) port \(service.port)\(renamed)"
    }
}

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
            within: limit + .seconds(2))
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
