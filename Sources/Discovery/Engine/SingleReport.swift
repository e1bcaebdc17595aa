import DiscoveryPOSIX

/// An operation that reports once and does nothing else, as one that no engine carries out.
package final class SingleReport: PublicationOperation {
    private let report: Locked<(@Sendable () -> Void)?>

    package init(_ report: @escaping @Sendable () -> Void) {
        self.report = Locked(report)
        // A report must not come from within the call that starts the operation.
        Task { self.take()?() }
    }

    private func take() -> (@Sendable () -> Void)? {
        report.withLock { report in
            defer { report = nil }
            return report
        }
    }

    package func cancel() { _ = take() }

    package func cancel(waitingAtMost limit: Duration) async -> Bool {
        cancel()
        return true
    }
}
