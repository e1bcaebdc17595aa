package import DNSSD
internal import DiscoveryControl

/// Where one reader of a `ChangeLog` is, and what it was told beside the services.
package struct LogReader: Sendable {
    /// The number of the last change it was told.
    package private(set) var number: UInt64
    /// Up to where it was told everything; smaller than `number` while it catches up.
    package private(set) var base: UInt64
    private var isSettled = false
    private var isBackendUp = true
    private var hasToldBackend = false
    private var degraded: UInt64

    /// A reader that knows nothing.
    package init() {
        (number, base, degraded) = (0, 0, 0)
    }

    /// A reader that was told everything up to `base`, and was on its way from there at `number`.
    package init(resumingAfter number: UInt64, base: UInt64) {
        self.number = number
        self.base = base
        degraded = base
    }

    /// What it is to be told now; empty when it was told everything, nil when it missed what is not known any more.
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
            // Who was never told that it was there is told that it comes.
            told.append((number, .backend(isUp && isFirst ? .available : log.backend)))
        }
        if let news = log.degraded, news.number > degraded {
            degraded = news.number
            told.append((number, .degraded(news.text)))
        }
        told += changes
        if changes.count < limit {
            (number, base) = (log.head, log.head)
            // While the backend is away nobody knows whether this is all.
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
