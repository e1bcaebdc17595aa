/// Reports that are made one after another, in the order added, and without a lock held: a receiver may call whoever
/// reports to it.
package final class ReportQueue<Receiver: Hashable & Sendable>: Sendable {
    private struct Item {
        let receiver: Receiver?
        let report: @Sendable () -> Void
    }

    private struct State {
        var added: [Item] = []
        /// Taken from `added`, the next one last.
        var next: [Item] = []
        var isReporting = false

        mutating func take() -> Item? {
            if next.isEmpty { (next, added) = (added.reversed(), []) }
            isReporting = !next.isEmpty
            return next.popLast()
        }
    }

    private let state = Locked(State())

    package init() {}

    /// Adds a report; `run` makes it.
    package func add(to receiver: Receiver? = nil, _ report: @escaping @Sendable () -> Void) {
        state.withLock { $0.added.append(Item(receiver: receiver, report: report)) }
    }

    /// Drops what waits for a receiver. A report that another thread has taken out to make is not waited for, because
    /// it may itself wait for a lock that the caller holds.
    package func drop(_ receiver: Receiver) {
        state.withLock { state in
            state.added.removeAll { $0.receiver == receiver }
            state.next.removeAll { $0.receiver == receiver }
        }
    }

    /// Makes the reports that wait, unless another call is making them.
    package func run() {
        var item = state.withLock { $0.isReporting ? nil : $0.take() }
        while let current = item {
            current.report()
            item = state.withLock { $0.take() }
        }
    }
}
