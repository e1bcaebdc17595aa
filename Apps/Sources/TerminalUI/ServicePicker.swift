import CommandFrame
import CommandText
public import DNSSD
public import Discovery
import DiscoveryJSON

/// A person's choice.
public enum Picked: Hashable, Sendable {
    /// A service.
    case service(DiscoveredService)
    /// Nothing: the person leaves, or standard input has ended.
    case left
}

/// Lets a person choose from a list of services that follows the network, on a screen or as lines.
///
/// As lines, each service is reported when it appears (`found NAME`) and disappears (`lost NAME`), or with `--json` in the format of
/// `discoverd browse`; an input line that names a service chooses it.
public actor ServicePicker {
    /// Room for a title, two services, a message and the keys.
    private static let minimumSize = ScreenSize(columns: 24, rows: 6)

    private let terminal: Terminal
    private let title: String
    private let action: String
    private let none: String
    private let text: @Sendable (DiscoveredService) -> String
    private var list = ServiceList()
    private let message: String
    /// Why the list may be inaccurate now.
    private var trouble = ""
    private var told: [DiscoveredService] = []
    private var hasToldSettled = false
    private var isSettled = false

    /// - Parameters:
    ///   - title: the question: "Who plays?".
    ///   - action: what Enter does.
    ///   - none: the text for an empty list.
    ///   - message: what happened before; shown below the list.
    ///   - text: how to list a service on a screen.
    public init(
        terminal: Terminal, title: String, action: String = "play", none: String = "Nobody yet.", message: String = "",
        text: @escaping @Sendable (DiscoveredService) -> String = { $0.instance.name.description }
    ) {
        self.terminal = terminal
        self.title = title
        self.action = action
        self.none = none
        self.message = message
        self.text = text
    }

    /// Shows services until one is chosen.
    /// - Parameter own: this program's own publication, which is never shown, whatever its current name.
    /// - Throws: the browser's errors; `CancellationError`.
    public func pick(from events: ServiceEvents, own: Publication? = nil) async throws -> Picked {
        if let own { list.hide([own.status.name]) }
        draw()
        return try await withThrowingTaskGroup(of: Picked?.self) { group in
            group.addTask {
                var iterator = events.makeAsyncIterator()
                while let batch = try await iterator.nextBatch(atMost: .max) { await self.network(batch) }
                return nil
            }
            group.addTask {
                while let event = await self.terminal.next() {
                    if let picked = await self.person(event) { return picked }
                }
                return nil
            }
            if let own {
                group.addTask {
                    for await status in own.updates { try await self.published(status) }
                    return nil
                }
            }
            defer { group.cancelAll() }
            while let result = try await group.next() {
                if let result { return result }
            }
            throw CancellationError()
        }
    }

    private func network(_ events: [ServiceEvent]) {
        list.update(events)
        for event in events {
            switch event {
            case .settled: isSettled = true
            case .backend(let state):
                if case .unavailable(let reason) = state { trouble = "No mDNS: \(reason)" }
                if case .lost(let reason) = state { trouble = "No mDNS: \(reason)" }
                if state == .available || state == .recovered { trouble = "" }
                terminal.tell(event)
            case .degraded(let reason):
                trouble = reason
                terminal.tell(event)
            default: continue
            }
        }
        show()
    }

    private func published(_ status: PublicationStatus) throws {
        switch status.state {
        case .failed(let error), .conflicted(let error): throw error
        default:
            list.hide([status.name])
            show()
        }
    }

    private func person(_ event: TerminalEvent) -> Picked? {
        switch event {
        case .key(.up): list.move(by: -1)
        case .key(.down): list.move(by: 1)
        case .key(.enter):
            if let service = list.selected { return .service(service) }
        case .key(.character("q")), .key(.escape), .ended: return .left
        case .key(.pressed(_, let row)):
            let rows = ScreenLayout(terminal.size).body.dropFirst()
            guard rows.contains(row) else { break }
            let first = Canvas.first(of: list.services.count, selected: selectedIndex, rows: rows.count)
            guard list.services.indices.contains(first + row - rows.lowerBound) else { break }
            list.select(first + row - rows.lowerBound)
            if let service = list.selected { return .service(service) }
        case .line(let text):
            if text.isEmpty { break }
            if let service = list.find(text) { return .service(service) }
            if text == "q" || text == "quit" { return .left }
            terminal.notice("nobody here is called \(text.safeForTerminal)")
        case .redraw: draw(anew: true)
        case .key: break
        }
        draw()
        return nil
    }

    private func show() {
        guard !terminal.isInteractive else { return draw() }
        let now = list.services
        let before = Dictionary(told.map { ($0.instance, $0) }, uniquingKeysWith: { $1 })
        let instances = Set(now.map(\.instance))
        for gone in told where !instances.contains(gone.instance) { terminal.tell(.lost(gone)) }
        for service in now {
            guard let old = before[service.instance] else {
                terminal.tell(.found(service))
                continue
            }
            if old.interfaces != service.interfaces { terminal.tell(.changed(service)) }
        }
        told = now
        if isSettled && !hasToldSettled {
            hasToldSettled = true
            terminal.tell(.settled)
        }
    }
}

extension ServicePicker {
    private var selectedIndex: Int? { list.services.firstIndex { $0.instance == list.selection } }

    private func draw(anew: Bool = false) {
        terminal.draw(atLeast: Self.minimumSize, anew: anew) { canvas in
            let message = trouble.isEmpty ? message : trouble
            canvas.put(title: title, message: message, keys: "Up/Down: choose   Enter: \(action)   q: leave")
            let rows = canvas.layout.body.dropFirst()
            let names = list.services.map { service in
                let state = service.state == .unreachable || service.state == .unavailable ? "  (\(service.state))" : ""
                return text(service) + state
            }
            canvas.put(list: names, selected: selectedIndex, rows: rows)
            if names.isEmpty { canvas.put(isSettled ? none : "Looking …", row: rows.lowerBound, column: 4) }
        }
    }
}
