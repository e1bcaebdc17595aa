import DiscoverySystem

/// Notices that others can cause at will: a burst, then one every few seconds, which says how many were not shown.
public final class PacedNotices: Sendable {
    private let notices: ProgramNotices
    private let pace = Locked(LinePace(now: .now))

    /// Creates a writer with the whole burst available.
    public init(_ notices: ProgramNotices) { self.notices = notices }

    /// Prints what a person should know.
    public func notice(_ text: String) { tell { $0.notice(text) } }

    /// Prints why something failed, and the advice.
    public func failure(_ error: CommandError) { tell { $0.failure(error) } }

    private func tell(_ body: (ProgramNotices) -> Void) {
        guard let suppressed = pace.withLock({ $0.line(now: .now) }) else { return }
        if suppressed > 0 { notices.notice("\(suppressed) more like these were not shown") }
        body(notices)
    }
}
