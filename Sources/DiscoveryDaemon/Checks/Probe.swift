internal import DNSSD
internal import DiscoverySystem
internal import Libc

/// One check in progress: where it waits, and until when.
struct Probe: Sendable {
    let poller: Poller
    let deadline: ContinuousClock.Instant
    let limit: Duration

    init?(within limit: Duration) {
        guard let poller = Poller.shared else { return nil }
        self.poller = poller
        self.limit = limit
        deadline = .now + limit
    }

    /// Waits until `descriptor` is ready.
    func wait(for descriptor: Int32, _ events: Int32) async throws(ProbeFailure) {
        switch await poller.wait(for: descriptor, events, until: deadline) {
        case .ready: break
        case .timedOut: throw timedOut
        case .cancelled: throw ProbeFailure("cancelled")
        }
    }

    var timedOut: ProbeFailure { ProbeFailure("no answer within \(limit)") }
}

/// Why a check did not pass; always the same words for the same reason, or every check would be news.
struct ProbeFailure: Error, Hashable {
    /// Safe for a terminal.
    let reason: String

    init(_ reason: String) { self.reason = reason }

    /// - Parameter code: an `errno`.
    init(_ what: String, code: Int32) {
        self.reason = SystemError(code, what).description
    }
}
