package import DNSSD
internal import DiscoveryControl
internal import DiscoveryJSON

/// One reader's position in a `ChangeLog`, and what else it has seen.
package struct LogReader: Sendable {
    /// The number of the last change it has seen.
    package private(set) var number: UInt64
    /// Up to where it has seen everything; smaller than `number` while it catches up.
    package private(set) var base: UInt64
    private var isSettled = false
    private var isBackendUp = true
    private var hasToldBackend = false
    private var degraded: UInt64

    /// A reader that has seen nothing.
    package init() {
        (number, base, degraded) = (0, 0, 0)
    }

    /// A reader that has seen everything up to `base`, and had got from there to `number`.
    package init(resumingAfter number: UInt64, base: UInt64) {
        self.number = number
        self.base = base
        degraded = base
    }

    /// The events it has not seen yet; empty if it is up to date, nil if it missed some that are no longer kept.
    package mutating func take(
        from log: ChangeLog,
        atMost limit: Int
    ) -> [(number: UInt64, event: ServiceEvent)]? {
        guard let changes = log.changes(after: number, base: base, atMost: limit) else { return nil }
        var told: [(number: UInt64, event: ServiceEvent)] = []
        let isUp = log.backend.reason == nil
        if isUp != isBackendUp {
            let isFirst = !hasToldBackend
            isBackendUp = isUp
            hasToldBackend = true
            // A reader that never saw the backend sees it arrive, not return.
            told.append((number, .backend(isUp && isFirst ? .available : log.backend)))
        }
        if let news = log.degraded, news.number > degraded {
            degraded = news.number
            told.append((number, .degraded(news.text)))
        }
        told += changes
        if changes.count < limit {
            (number, base) = (log.head, log.head)
            // While the backend is away it is unknown whether this is all.
            if log.isSettled, isUp, !isSettled {
                isSettled = true
                told.append((number, .settled))
            }
        } else if let last = changes.last {
            number = last.number
        }
        return told
    }
}
