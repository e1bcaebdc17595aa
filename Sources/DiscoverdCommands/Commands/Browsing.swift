#if Commands
internal import CommandFrame
internal import DNSSD
internal import Discovery

/// Runs `browse`: prints events until there is enough, or until something stops it.
///
/// With `once`, a service is printed on one line as soon as everything about it is known; intermediate states are not shown.
struct Browsing {
    let session: Session
    let printer: ServicePrinter
    let subject: Subject
    let count: Int?
    /// Runs for each event that is shown.
    private let program: EventProgram?
    /// Events of the batch for which the program has yet to run.
    private var told: [ServiceEvent] = []

    private let start = ContinuousClock.now
    private var gate: BackendGate
    /// Domains whose first list is not complete yet.
    private var unsettled: Set<Int> = []
    /// Services found so far, each counted once; at most `count` of them, or one without a count.
    private var found: Set<ServiceInstance> = []
    private var filtered: FilteredEvents
    /// Collects the services; only with `once`.
    private var listing: OnceListing?

    init(
        session: Session, printer: ServicePrinter, subject: Subject, filter: ServiceFilter, listing: OnceListing?,
        count: Int?, program: EventProgram? = nil
    ) {
        self.session = session
        self.printer = printer
        self.subject = subject
        self.listing = listing
        self.count = count
        self.program = program
        filtered = FilteredEvents(filter)
        gate = BackendGate(session)
    }

    /// - Parameter streams: one for each domain, type after type.
    mutating func run(_ streams: [ServiceEvents]) async throws -> ExitStatus {
        unsettled = Set(streams.indices)
        do {
            // A batch is everything that happened in the meantime. Writing it at once keeps system calls few on a busy network.
            let status = try await MergedEvents(streams).first { index, batch in
                let isOver = try batch.contains { try handle($0, of: index) }
                if isOver { try showListing() }
                try session.output.flush()
                try await runProgram()
                return isOver ? tell(isEnough ? .done : .notFound) : nil
            }
            if let status { return status }
        } catch is DiscoveryError where session.stop.cause != nil {
            // The stream ended because the command is ending.
        }
        try showListing()
        try session.output.flush()
        try await runProgram()
        let status = try await session.status(found: isEnough, backend: gate)
        return tell(status)
    }

    /// Reports what the printed lines cannot show.
    private func tell(_ status: ExitStatus) -> ExitStatus {
        if status == .notFound, found.isEmpty { session.notices.notice(subject.isNotFound) }
        if listing != nil, status == .done, let reason = gate.silentServer ?? gate.reason {
            // When its backend is gone, a daemon still answers with what it knew.
            session.notices.notice("not everything may be shown: \(reason)")
        }
        return status
    }

    private var isEnough: Bool { found.count >= (count ?? 1) }

    /// - Returns: whether the command is done.
    private mutating func handle(_ event: ServiceEvent, of stream: Int) throws -> Bool {
        guard let event = filtered.event(event) else {
            gate.answered()
            return false
        }
        switch event {
        case .found(let service):
            gate.answered()
            try show(event, of: service)
            if !isEnough { found.insert(service.instance) }
            return count != nil && isEnough
        case .changed(let service):
            try show(event, of: service)
        case .lost(let service):
            if listing == nil {
                try tell(event)
            } else if listing?.ended(service) == true {
                found.remove(service.instance)
            }
        case .settled:
            gate.answered()
            // The list is complete when that of each type and domain is.
            guard unsettled.remove(stream) != nil, unsettled.isEmpty else { return false }
            let seconds = (ContinuousClock.now - start).inSeconds
            session.notices.detail("the list was complete after \(seconds) s; what comes later is news")
            try showListing()
            try printer.show(event)
            if listing == nil, found.isEmpty { session.tellWaiting(for: subject) }
            return listing != nil
        case .backend(let state):
            try gate.observe(state, of: subject.domain(stream), stream: stream, in: session)
        case .degraded(let reason):
            session.tellDegraded(reason)
            try printer.show(event)
        }
        return false
    }

    private mutating func show(_ event: ServiceEvent, of service: DiscoveredService) throws {
        guard listing != nil else { return try tell(event) }
        if listing?.became(service) == true { try tell(.found(service)) }
    }

    private mutating func tell(_ event: ServiceEvent) throws {
        try printer.show(event)
        if program != nil { told.append(event) }
    }

    /// While the program runs, no more of a stream is taken: what happens meanwhile is merged there, and nothing piles up.
    private mutating func runProgram() async throws {
        guard let program else { return }
        defer { told = [] }
        for event in told where !session.stop.isRequested { try await program.run(for: event) }
    }

    private mutating func showListing() throws {
        for service in listing?.take() ?? [] { try tell(.found(service)) }
    }
}
#endif
