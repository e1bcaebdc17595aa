/// Whether the daemon has been away for so long that queries go on without it. A value.
struct DaemonAbsence: Sendable {
    private let patience: Duration
    private var since: Duration?
    /// Queries go on without it, until the program ends.
    private(set) var isOver = false

    init(patience: Duration) { self.patience = patience }

    /// The daemon has said something.
    mutating func heard() { since = nil }

    /// There was no daemon at a time.
    /// - Returns: whether queries are to go on without it now.
    mutating func missed(at now: Duration) -> Bool {
        let first = since ?? now
        since = first
        guard !isOver, now - first >= patience else { return false }
        isOver = true
        return true
    }
}
