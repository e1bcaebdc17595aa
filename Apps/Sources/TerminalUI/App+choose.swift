public import AppSupport
import CommandFrame
public import DNSSD
public import Discovery

extension App {
    /// Lets a person choose one of several services on a screen.
    /// - Parameters:
    ///   - events: reports the services to choose from.
    ///   - title: the question: "Which room?".
    ///   - action: what Enter does.
    ///   - none: the text for an empty list.
    ///   - text: how to list a service.
    /// - Returns: nil if there is no one to ask: standard input or output is not a terminal, or the output is for a program.
    /// - Throws: `CommandError` with `.notFound` if none is chosen; the browser's errors.
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
