#if Commands
internal import CommandFrame
internal import CommandText
internal import DNSSD
internal import Discovery
internal import DiscoveryControl
internal import DiscoveryJSON
internal import PeerIdentity

/// Shows a live table on the terminal: hands it events and keys one after the other, and draws it when something changed.
actor LiveView: ServiceSink {
    typealias Resolver = @Sendable (ServiceInstance) async throws -> DiscoveredService

    /// No one sees more pictures than that.
    private static let pause = Duration.milliseconds(40)

    private let screen: Screen
    private let stop: Stop
    private let resolver: Resolver
    private var table: LiveTable
    private var drawn = ContinuousClock.Instant.now - LiveView.pause
    /// The next drawing, and what waits for it.
    private var next: (at: ContinuousClock.Instant, task: Task<Void, Never>)?
    private var lookup: Task<Void, Never>?
    /// Why not everything is shown.
    private(set) var degraded: String?
    /// A person ended it, or the terminal did.
    private(set) var isLeft = false

    init(_ screen: Screen, _ table: LiveTable, _ stop: Stop, resolver: @escaping Resolver) {
        (self.screen, self.table, self.stop, self.resolver) = (screen, table, stop, resolver)
    }

    var hasFound: Bool { table.hasFound }

    /// Runs until a person leaves or the task is cancelled; gives the terminal back.
    /// - Returns: how the query ended; nil where a person left, or the terminal ended.
    func run(_ browsing: Browsing) async throws -> Browsing.End? {
        defer {
            next?.task.cancel()
            lookup?.cancel()
            screen.close()
        }
        draw()
        return try await withThrowingTaskGroup(of: Browsing.End?.self) { group in
            group.addTask {
                var (browsing, view) = (browsing, self)
                return try await browsing.run(into: &view)
            }
            group.addTask {
                while let event = await self.screen.next(), await self.typed(event) {}
                return nil
            }
            defer { group.cancelAll() }
            for try await end in group where end != nil || isLeft { return isLeft ? nil : end }
            return nil
        }
    }

    func take(_ events: [ServiceEvent]) -> ExitStatus? {
        let now = ContinuousClock.now
        for event in events {
            switch event {
            case .found(let service), .changed(let service): table.found(service, now: now)
            case .lost(let service): table.lost(service, now: now)
            case .settled: table.isSettled = true
            case .backend(let state): table.message = state.trouble ?? degraded.map(ProgramNotices.degradation)
            case .degraded(let reason):
                degraded = reason
                table.message = ProgramNotices.degradation(reason)
            }
        }
        drawSoon()
        return nil
    }

    func end() {}

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

/// Runs `browse --live`: the table is its sink.
struct LiveBrowsing {
    let session: Session
    let query: BrowseQuery
    let detail: ServiceDetail
    let order: ListOrder

    /// - Throws: `CommandError` with status 64 without a terminal.
    func run() async throws -> ExitStatus {
        let terminal = session.terminal
        let ability = Renderer.Ability(hasColour: terminal.hasColour, hasUnicode: terminal.isUTF8)
        guard terminal.movesCursor, let screen = Screen(.screen, ability) else {
            throw CommandError(
                .usage, "--live needs a terminal, as standard input and output, and in the foreground",
                advice: ["Without it, each service that comes, changes or goes is a line."])
        }
        let (network, interfaces, family) = (session.network, query.interfaces, query.family)
        let view = LiveView(screen, LiveTable(look, order: order), session.stop) { instance in
            try await network.resolve(instance, on: interfaces, over: family, within: .seconds(5))
        }
        let end = try await view.run(Browsing(query, in: session))
        if let reason = await view.degraded { session.notices.degraded(reason) }
        guard let end else { return .done }
        let status = try await end.status(found: view.hasFound, in: session)
        if status == .notFound { session.notices.notice(query.isNotFound()) }
        return status
    }

    private var look: LiveTable.Look {
        let detail = detail
        let keys = KeyStates(session.more?.hmac)
        let showsKeys = detail == .full && !keys.isEmpty
        let types = query.types.isEmpty ? "every type" : query.types.map(\.description).joined(separator: ", ")
        let domains =
            query.domains == [.local] ? "" : " in " + query.domains.map(\.description).joined(separator: ", ")
        let columns = ServiceColumns(
            detail, tellsEvents: true, hasType: query.types.count != 1, hasDomain: !domains.isEmpty,
            showsKeys: showsKeys)
        return LiveTable.Look(
            title: types + domains,
            columns: columns.all,
            fields: { service in
                service.textFields(detail) + (showsKeys ? [keys.state(of: service.instance)?.rawValue ?? ""] : [])
            },
            details: { ServiceCard($0, key: keys.state(of: $0.instance)).lines },
            isUTF8: session.terminal.isUTF8)
    }
}
#endif
