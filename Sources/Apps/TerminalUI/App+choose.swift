public import AppSupport
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
    /// - Throws: `AppError` with `.notDone` when none is chosen; what the browser throws.
    public func choose(
        from events: ServiceEvents, title: String, action: String, none: String,
        text: @escaping @Sendable (DiscoveredService) -> String = { $0.instance.name.description }
    ) async throws -> DiscoveredService? {
        guard !json, let terminal = Terminal.openScreen(for: self) else { return nil }
        defer { terminal.close() }
        let picker = ServicePicker(terminal: terminal, title: title, action: action, none: none, text: text)
        guard case .service(let service) = try await picker.pick(from: events) else {
            throw AppError(told: "none was chosen", .notDone)
        }
        return service
    }
}
