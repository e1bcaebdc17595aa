#if Commands
internal import CommandFrame
internal import DNSSD
internal import Discovery

/// The run of `browse`: shows what happens until it is enough, or until something stops it.
///
/// With `once` a service is shown on one line, as soon as all is known of it: what came of it on the way is not what is there.
struct Browsing {
    let session: Session
    let printer: ServicePrinter
    let subject: Subject
    let count: Int?

    private var gate: BackendGate
    /// Services that were found, each counted once; no more than `count` of them, or one.
    private var found: Set<ServiceInstance> = []
    /// With `once`.
    private var listing: OnceListing?

    init(session: Session, printer: ServicePrinter, subject: Subject, listing: OnceListing?, count: Int?) {
        self.session = session
        self.printer = printer
        self.subject = subject
        self.listing = listing
        self.count = count
        gate = BackendGate(session)
    }

    mutating func run(_ events: ServiceEvents) async throws -> ExitStatus {
        var iterator = events.makeAsyncIterator()
        do {
            // A batch is what happened meanwhile: written at once, so that a busy network costs few system calls.
            while let batch = try await iterator.nextBatch(atMost: 512) {
                let isOver = try batch.contains { try handle($0) }
                if isOver { try showListing() }
                try session.output.flush()
                if isOver { return tell(isEnough ? .done : .notFound) }
            }
        } catch is DiscoveryError where session.stop.cause != nil {
            // The stream ended because the command is to end.
        }
        try showListing()
        try session.output.flush()
        let status = try await session.status(found: isEnough, backend: gate)
        return tell(status)
    }

    /// Says what the lines do not.
    private func tell(_ status: ExitStatus) -> ExitStatus {
        if status == .notFound, found.isEmpty { session.notices.notice(subject.isNotFound) }
        if listing != nil, status == .done, let reason = gate.reason {
            // A daemon tells what it knew when its backend went.
            session.notices.notice("not everything may be shown: \(reason)")
        }
        return status
    }

    private var isEnough: Bool { found.count >= (count ?? 1) }

    /// - Returns: whether that was all.
    private mutating func handle(_ event: ServiceEvent) throws -> Bool {
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
                try printer.show(event)
            } else if listing?.ended(service) == true {
                found.remove(service.instance)
            }
        case .settled:
            gate.answered()
            try showListing()
            try printer.show(event)
            if listing == nil, found.isEmpty { session.tellWaiting(for: subject) }
            return listing != nil
        case .backend(let state):
            try gate.observe(state, in: session)
        case .degraded(let reason):
            session.tellDegraded(reason, of: subject)
            try printer.show(event)
        }
        return false
    }

    private mutating func show(_ event: ServiceEvent, of service: DiscoveredService) throws {
        guard listing != nil else { return try printer.show(event) }
        if listing?.became(service) == true { try printer.show(.found(service)) }
    }

    private mutating func showListing() throws {
        for service in listing?.take() ?? [] { try printer.show(.found(service)) }
    }
}
#endif
