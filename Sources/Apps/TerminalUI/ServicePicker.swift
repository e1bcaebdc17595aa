public import DNSSD
public import Discovery
import DiscoveryJSON

/// What a person chose.
public enum Picked: Hashable, Sendable {
    /// A service.
    case service(DiscoveredService)
    /// Nothing: the person wants to leave, or standard input ended.
    case left
}

/// A list of services that follows the network, and a person who chooses one: a screen, or lines where there is none.
///
/// As lines: each service is told when it comes (`found NAME`) and goes (`lost NAME`), with `--json` as `discoverd browse` does; a
/// line that names one chooses it.
public actor ServicePicker {
    /// Rows of the screen that the list has.
    static let visibleRows = 16

    private let terminal: Terminal
    private let title: String
    private var list = ServiceList()
    private let message: String
    /// Why the list may not be true now.
    private var trouble = ""
    private var told: [DiscoveredService] = []
    private var hasToldSettled = false
    private var isSettled = false

    /// - Parameters:
    ///   - title: what is chosen: "Who plays?".
    ///   - message: what happened before, shown below the list.
    public init(terminal: Terminal, title: String, message: String = "") {
        self.terminal = terminal
        self.title = title
        self.message = message
    }

    /// Shows services until one is chosen.
    /// - Parameter own: this program's own publication, which is never shown, whatever its name becomes.
    /// - Throws: what the browser throws; `CancellationError`.
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
        case .key(.pressed(_, let row)) where row >= Self.firstRow && row < Self.firstRow + Self.visibleRows:
            let index = offset + row - Self.firstRow
            guard list.services.indices.contains(index) else { break }
            list.select(index)
            if let service = list.selected { return .service(service) }
        case .line(let text):
            if text.isEmpty { break }
            if let service = list.find(text) { return .service(service) }
            if text == "q" || text == "quit" { return .left }
            terminal.notice("nobody here is called \(text.oneLine)")
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
    private static let firstRow = 3

    /// The first service that is shown, so that the selected one is.
    private var offset: Int {
        let index = list.services.firstIndex { $0.instance == list.selection } ?? 0
        return max(0, index - Self.visibleRows + 1)
    }

    private func draw(anew: Bool = false) {
        guard terminal.isInteractive else { return }
        var canvas = Canvas()
        canvas.put(title, row: 1, column: 2, Style(bold: true))
        let services = list.services
        if services.isEmpty {
            canvas.put(isSettled ? "Nobody yet." : "Looking …", row: Self.firstRow, column: 4)
        }
        for (row, service) in services.dropFirst(offset).prefix(Self.visibleRows).enumerated() {
            let isSelected = service.instance == list.selection
            let state = service.state == .unreachable || service.state == .unavailable ? "  (\(service.state))" : ""
            canvas.put(
                "\(isSelected ? ">" : " ") \(service.instance.name)\(state) ", row: Self.firstRow + row, column: 2,
                Style(reverse: isSelected))
        }
        let below = services.count - offset - Self.visibleRows
        if below > 0 { canvas.put("… and \(below) more", row: Self.firstRow + Self.visibleRows, column: 4) }
        canvas.put(trouble.isEmpty ? message : trouble, row: 21, column: 2, Style(.yellow))
        canvas.put("Up/Down: choose   Enter: play   q: leave", row: 22, column: 2)
        terminal.draw(canvas, anew: anew)
    }
}
