#if Commands
internal import CommandFrame
internal import CommandText
internal import DNSSD
internal import Discovery

/// Shows a live table on the terminal: hands it events and keys one after the other, and draws it when something changed.
actor LiveView {
    typealias Resolver = @Sendable (ServiceInstance) async throws -> DiscoveredService

    /// No one sees more pictures than that.
    private static let pause = Duration.milliseconds(40)

    private let screen: Screen
    private let stop: Stop
    private let resolver: Resolver
    private var table: LiveTable
    private var filtered: FilteredEvents
    private(set) var gate: BackendGate
    private var unsettled: Set<Int> = []
    private var drawn = ContinuousClock.Instant.now - LiveView.pause
    /// The next drawing, and what waits for it.
    private var next: (at: ContinuousClock.Instant, task: Task<Void, Never>)?
    private var lookup: Task<Void, Never>?
    /// Why not everything is shown.
    private(set) var degraded: String?
    /// A person ended it, or the terminal did.
    private(set) var isLeft = false

    init(
        _ screen: Screen, _ table: LiveTable, _ filter: ServiceFilter, _ gate: BackendGate, _ stop: Stop,
        resolver: @escaping Resolver
    ) {
        self.screen = screen
        self.table = table
        self.gate = gate
        self.stop = stop
        self.resolver = resolver
        filtered = FilteredEvents(filter)
    }

    var hasFound: Bool { table.hasFound }

    /// Runs until a person leaves or the task is cancelled; gives the terminal back.
    func run(_ streams: [ServiceEvents], subject: Subject) async throws {
        defer { screen.close() }
        unsettled = Set(streams.indices)
        draw()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                let _: Void? = try await MergedEvents(streams).first { index, batch in
                    await self.told(batch, of: index, in: subject.domain(index))
                    return nil
                }
            }
            group.addTask {
                while let event = await self.screen.next(), await self.typed(event) {}
            }
            defer { group.cancelAll() }
            try await group.next()
        }
        next?.task.cancel()
        lookup?.cancel()
    }

    private func told(_ batch: [ServiceEvent], of stream: Int, in domain: Domain) {
        let now = ContinuousClock.now
        for event in batch {
            guard let event = filtered.event(event) else {
                gate.answered()
                continue
            }
            switch event {
            case .found(let service), .changed(let service):
                gate.answered()
                table.found(service, now: now)
            case .lost(let service): table.lost(service, now: now)
            case .settled:
                gate.answered()
                unsettled.remove(stream)
                table.isSettled = unsettled.isEmpty
            case .backend(let state):
                gate.note(state, of: domain, stream: stream)
                table.message = Self.message(state) ?? degraded.map(Self.message)
            case .degraded(let reason):
                degraded = reason
                table.message = Self.message(reason)
            }
        }
        drawSoon()
    }

    private static func message(_ reason: String) -> String { "not everything may be shown: \(reason)" }

    private static func message(_ state: BackendState) -> String? {
        switch state {
        case .available, .recovered: nil
        case .unavailable(let reason): "waiting for the backend: \(reason)"
        case .lost(let reason): "lost the backend (\(reason)); what is known is kept"
        }
    }

    /// - Returns: whether to go on.
    private func typed(_ event: TerminalEvent) -> Bool {
        switch event {
        case .key(let key):
            switch table.key(key) {
            case .stay: break
            case .quit:
                isLeft = true
                return false
            case .resolve(let instance): resolve(instance)
            }
            drawSoon()
        case .redraw: draw(anew: true)
        case .line: break
        case .ended:
            isLeft = true
            return false
        }
        return true
    }

    /// Unstructured, so that keys and events go on meanwhile; one at a time.
    private func resolve(_ instance: ServiceInstance) {
        lookup?.cancel()
        let resolver = resolver
        lookup = Task {
            guard let service = try? await resolver(instance) else { return }
            self.table.resolved(service)
            self.drawSoon()
        }
    }

    /// Draws now, or when the last drawing is a moment ago.
    private func drawSoon() {
        let time = drawn + Self.pause
        if time <= .now { draw() } else { schedule(time) }
    }

    /// Unstructured: drawing waits for time, not for an event. It ends with `run`.
    private func schedule(_ time: ContinuousClock.Instant) {
        if let next, next.at <= time { return }
        next?.task.cancel()
        next = (
            time,
            Task {
                guard (try? await Task.sleep(until: time, clock: .continuous)) != nil else { return }
                self.draw()
            }
        )
    }

    private func draw(anew: Bool = false) {
        next?.task.cancel()
        next = nil
        drawn = .now
        table.passed(now: drawn)
        if !screen.draw(table.canvas(screen.size), anew: anew) { stop.request(.unread) }
        if let end = table.list.nextEnd { schedule(max(end, drawn + Self.pause)) }
    }
}
#endif
