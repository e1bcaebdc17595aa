internal import DiscoverySystem
internal import Libc

/// Waits for descriptors on behalf of tasks, on one thread for all, so that no task's thread has to.
///
/// The thread lives as long as the process. Waits are bounded by the number of checks: each has one at a time.
final class Poller: Sendable {
    /// How a wait ended.
    enum Outcome: Hashable, Sendable {
        /// The descriptor is ready or broken: the next call on it shows which.
        case ready
        /// The deadline passed.
        case timedOut
        /// The task was cancelled.
        case cancelled
    }

    /// The one of this process; nil when the system has neither thread nor descriptor left.
    static let shared = Poller()

    private let loop: EventLoop

    private init?() {
        guard let loop = EventLoop(named: "checks") else { return nil }
        self.loop = loop
    }

    /// Waits until a descriptor, which must stay open meanwhile, is ready for `events` of poll(2).
    func wait(for descriptor: Int32, _ events: Int32, until deadline: ContinuousClock.Instant) async -> Outcome {
        let wait = LoopBound(to: loop, Wait())
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                wait.post { [loop] in
                    $0.begin(on: loop, descriptor, Int16(truncatingIfNeeded: events), until: deadline, continuation)
                }
            }
        } onCancel: {
            wait.post { $0.end(.cancelled) }
        }
    }
}

/// One wait. Touched by the loop's thread only.
private final class Wait {
    private var outcome: Poller.Outcome?
    private var continuation: CheckedContinuation<Poller.Outcome, Never>?
    private var watch: LoopWatch?
    private var timer: LoopTimer?

    func begin(
        on loop: EventLoop, _ descriptor: Int32, _ events: Int16, until deadline: ContinuousClock.Instant,
        _ continuation: CheckedContinuation<Poller.Outcome, Never>
    ) {
        if let outcome { return continuation.resume(returning: outcome) }
        self.continuation = continuation
        watch = LoopWatch(loop: loop, descriptor: descriptor, events: events) { [weak self] _ in self?.end(.ready) }
        timer = LoopTimer(loop: loop) { [weak self] in self?.end(.timedOut) }
        timer?.set(after: ContinuousClock.now.duration(to: deadline))
    }

    /// The first end counts, also one that comes before the beginning.
    func end(_ new: Poller.Outcome) {
        guard outcome == nil else { return }
        outcome = new
        watch?.free()
        timer?.free()
        continuation?.resume(returning: new)
        continuation = nil
    }
}
