#if Commands
internal import CommandFrame
internal import DNSSD
internal import Discovery
internal import DiscoveryControl
internal import DiscoveryJSON
internal import DiscoverySystem

/// Runs `publish`: reports the names' statuses, starts a program once all are established, withdraws at the end.
struct Publishing {
    let session: Session
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
    private var publications: [Publication] = []
    /// Those that have been, by their places.
    private var established: Set<Int> = []

    init(session: Session, program: [[UInt8]], timeout: Duration?, isChecked: Bool) {
        (self.isChecked, self.session, self.program) = (isChecked, session, program)
        if session.isUnicast { gate = BackendGate(session) }
        deadline = timeout.map { session.stop.request(.timedOut, after: $0) }
    }

    mutating func run(_ publications: [Publication]) async throws -> ExitStatus {
        self.publications = publications
        let (updates, reader) = AsyncStream<(Int, PublicationStatus)>.makeStream()
        let readers = Task {
            await withDiscardingTaskGroup { group in
                for (place, publication) in publications.enumerated() {
                    group.addTask { for await status in publication.updates { reader.yield((place, status)) } }
                }
            }
            reader.finish()
        }
        defer { readers.cancel() }
        do {
            for await (place, status) in updates { try handle(status, of: place) }
        } catch {
            await finish()
            throw error
        }
        await finish()
        return try status(of: session.stop.cause)
    }

    private var areEstablished: Bool { established.count == publications.count }

    private func status(of cause: Stop.Cause?) throws -> ExitStatus {
        switch cause {
        case .programEnded(let status): return status
        case .failed(let error): throw error
        case .noBackend: throw gate?.failure ?? .noBackend(nil)
        case .timedOut:
            let reason = gate.flatMap { $0.isOpen ? nil : $0.reason }.map { ": \($0)" } ?? ""
            let late = publications.indices.first { !established.contains($0) } ?? 0
            let name = publications[late].service.name
            throw CommandError(.notFound, "\"\(name)\" could not be published within the time allowed\(reason)")
        case .signal, .unread, nil: return .done
        }
    }

    private mutating func handle(_ status: PublicationStatus, of place: Int) throws {
        let service = publications[place].service
        switch status.state {
        case .waiting(let reason):
            guard !isChecked || service.isAlias else {
                session.notices.notice("withheld: \(reason)")
                return try show(service, status, .waiting, reason: reason)
            }
            // Once established, the service stays published however long the backend is away.
            if SystemInterfaces.isAbsence(reason) {
                // What it said before may be left out where this program is slow: the newest status counts.
                gate?.answered()
            } else {
                if gate == nil, !areEstablished { gate = BackendGate(session) }
                gate?.note(.unavailable(reason))
            }
            tellOfWaiting(reason)
            try show(service, status, .waiting, reason: reason)
        case .registering:
            // A DNS server is asked from here on. It has answered where the name is another one now.
            if !session.isUnicast || status.name != service.name { gate?.answered() }
            try show(service, status, .registering)
        case .established:
            gate?.answered()
            established.insert(place)
            if areEstablished { deadline?.cancel() }
            try show(service, status, .established)
            if areEstablished { try startProgram() }
        case .refused(let error):
            gate?.answered()
            session.notices.notice("not published: \(error.message); it is tried again")
            try show(service, status, status.state.named, reason: error.message)
        case .conflicted(let error):
            try show(service, status, .conflicted, isOver: true, reason: error.message)
            throw CommandError(
                .cannotCreate, error.message,
                advice: [
                    service.isAddressRecord && !service.isAlias
                        ? "Choose another name: hosts of the same name would answer for each other."
                        : "Choose another name, or let it be renamed: --on-conflict rename."
                ])
        case .failed(let error):
            try show(service, status, .failed, isOver: true, reason: error.message)
            // There is a backend: someone else withdrew the service with `unpublish`.
            if error.code == .closed { throw CommandError(.notFound, error.message) }
            throw error
        case .withdrawn: break
        }
    }

    private mutating func tellOfWaiting(_ reason: String) {
        guard areEstablished else { return session.notices.detail("nothing publishes yet: \(reason)") }
        session.notices.notice("\(reason); the service is published again as soon as that is possible")
    }

    /// Keeps offering the service if the reader is gone.
    private func show(
        _ service: OfferedService, _ status: PublicationStatus, _ state: RegistrationStatus.State, isOver: Bool = false,
        reason: String? = nil
    ) throws {
        if let announce {
            if state == .established { announce(status) }
            return
        }
        let subject: JSONVersion.Subject = isOver ? .ended : .event
        if tellsOnStandardError { return tell(service, status, state, as: subject, reason: reason) }
        do {
            if session.json {
                try session.output.json(subject) {
                    $0.publishedLine(service, name: status.name, state: state.rawValue, reason: reason)
                }
            } else if state == .established {
                try session.output.line(Self.established(service, status))
            }
            try session.output.flush()
        } catch is Output.Unread {
            session.notices.detail("nobody reads standard output any more")
        }
    }

    private func tell(
        _ service: OfferedService, _ status: PublicationStatus, _ state: RegistrationStatus.State,
        as subject: JSONVersion.Subject, reason: String?
    ) {
        if let version = session.jsonVersion {
            let line = version.line(subject) {
                $0.publishedLine(service, name: status.name, state: state.rawValue, reason: reason)
            }
            ProgramNotices.write(line)
        } else if state == .established {
            session.notices.notice(Self.established(service, status))
        }
    }

    private static func established(_ service: OfferedService, _ status: PublicationStatus) -> String {
        "published \(PublishedText.of(service, as: status.name))"
    }

    private mutating func startProgram() throws {
        guard !program.isEmpty, child == nil else { return }
        let stop = session.stop
        let started = Locked<ChildProcess?>(nil)
        // The lock is held while the program starts: a signal of that time waits for it.
        let child = try started.withLock { child throws in
            session.watcher.forwardSignals { signal in
                // The terminal signals the whole process group, so the program already has it.
                if !signal.isFromTerminal { started.withLock { $0 }?.send(signal.number) }
            }
            let new = try ChildProcess(program)
            child = new
            return new
        }
        self.child = child
        try child.whenEnded { stop.request(.programEnded($0)) }
    }

    /// Withdraws everything, and ends the program if a publication ended first. Runs in a task of its own: this one may be cancelled,
    /// and the goodbyes must still be sent.
    private func finish() async {
        child?.end()
        let areWithdrawn = await Task { [publications] in
            await publications.allSucceed { await $0.withdraw(waitingAtMost: .milliseconds(1500)) }
        }.value
        for publication in publications {
            guard case .withdrawn = publication.status.state else { continue }
            try? show(publication.service, publication.status, .withdrawn)
        }
        if !areWithdrawn { session.notices.detail("the withdrawal was not confirmed in time") }
    }
}

/// What is published, for people.
enum PublishedText {
    /// The service and its port, or the host and its addresses; and the wanted name, if another was taken.
    static func of(_ service: OfferedService, as name: ServiceName) -> String {
        if service.isAlias {
            let renamed = name == service.name ? "" : " (renamed: \(service.name) is taken)"
            return "\(name), an alias of this machine\(renamed)"
        }
        if service.isAddressRecord, let host = service.host {
            return "\(host.name) address \(host.addresses.map(\.description).joined(separator: ", "))"
        }
        let instance = ServiceInstance(name: name, type: service.type, domain: service.domain)
        let renamed = name == service.name ? "" : " (renamed: \"\(service.name)\" is taken)"
        return "\(instance) port \(service.port)\(renamed)"
    }
}

/// Runs `publish --detach`: hands everything to the daemon, one after the other, and reports the outcome.
struct Detaching {
    let session: Session
    let requests: [RegistrationRequest]
    let timeout: Duration?

    /// The longest that the daemon waits with an answer.
    private static let longestWait = Duration.seconds(30)

    func run() async throws -> ExitStatus {
        var areInTime = true
        for request in requests {
            let isEstablished = try await handOver(request)
            // Without a limit of time it is enough that the daemon has it.
            if timeout != nil, !isEstablished { areInTime = false }
        }
        return areInTime ? .done : .notFound
    }

    /// - Returns: whether it is published now.
    private func handOver(_ request: RegistrationRequest) async throws -> Bool {
        let limit = timeout ?? .seconds(5)
        let end = ContinuousClock.now + limit
        var (status, change) = try await ask(request, waiting: min(limit, Self.longestWait))
        while !status.hasOutcome, end - .now > .seconds(1) {
            // The same once more changes nothing, and waits.
            status = try await ask(request, waiting: min(end - .now, Self.longestWait)).0
        }
        try show(request, status, change)
        return status.state == .established
    }

    private func ask(
        _ request: RegistrationRequest, waiting limit: Duration
    ) async throws -> (RegistrationStatus, RegistrationChange?) {
        var writer = JSONWriter()
        writer.request(request)
        let seconds = max(1, (limit.milliseconds + 999) / 1000)
        let answer = try await session.requireDaemon().send(
            ControlClient.Request("POST", "/v1/registrations?wait=\(seconds)", body: writer.bytes),
            within: limit + .seconds(2))
        guard let json = try? JSONReader.read(answer), let status = RegistrationStatus(json) else {
            throw CommandError(.noBackend, "the daemon's answer is not understood")
        }
        return (status, json["changed"].flatMap { RegistrationChange($0) })
    }

    private func show(_ request: RegistrationRequest, _ status: RegistrationStatus, _ change: RegistrationChange?)
        throws
    {
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
            let isRead = session.terminal.isInteractive || status.state == .established
            let state = isRead ? status.state.word : status.state.rawValue
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
