public import AppSupport
import CommandFrame
public import DNSSD
public import Discovery

extension App {
    /// Has a person choose one of several services on a screen.
    /// - Parameters:
    ///   - events: what there is to choose from.
    ///   - title: what is chosen: "Which room?".
    ///   - action: what Enter does.
    ///   - none: what is shown when there is none any more.
    ///   - text: how a service is listed.
    /// - Returns: nil when there is no one to ask: standard input or output is no terminal, or the output is for a program.
    /// - Throws: `CommandError` with `.notFound` when none is chosen; what the browser throws.
    public func choose(
        from events: ServiceEvents, title: String, action: String, none: String,
        text: @escaping @Sendable (DiscoveredService) -> String = { $0.instance.name.description }
    ) async throws -> DiscoveredService? {
        guard !json, let terminal = Terminal.openScreen(for: self) else { return nil }
        defer { terminal.close() }
        let picker = ServicePicker(terminal: terminal, title: title, action: action, none: none, text: text)
        guard case .service(let service) = try await picker.pick(from: events) else {
            throw CommandError(told: "none was chosen", .notFound)
        }
        return service
    }
}
