internal import CLinux
internal import Discovery
internal import Glibc
internal import System

/// One thread that waits for many descriptors, so that no task's thread has to: poll(2) with deadlines.
///
/// The thread lives as long as the process. Waits are bounded by the number of checks: each has one at a time.
final class Poller: Sendable {
    /// How a wait ended.
    enum Outcome: Hashable, Sendable {
        /// The descriptor is ready, or broken: the next call on it tells.
        case ready
        /// The deadline passed.
        case timedOut
        /// The task was cancelled, or there is no thread to wait.
        case cancelled
    }

    private struct Wait: Sendable {
        let descriptor: Int32
        let events: Int16
        let deadline: ContinuousClock.Instant
        let continuation: CheckedContinuation<Outcome, Never>
    }

    private struct State: Sendable {
        var nextID: UInt64 = 0
        var waits: [UInt64: Wait] = [:]
    }

    /// The process's only one; nil when no thread or descriptor could be had.
    static let shared: Poller? = Poller()

    private let state = Locked(State())
    private let wake: Int32

    private init?() {
        wake = clinux_eventfd()
        guard wake >= 0 else { return nil }
        var thread = pthread_t()
        let poller = unsafe Unmanaged.passRetained(self)
        let code = unsafe pthread_create(
            &thread, nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                unsafe Unmanaged<Poller>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, poller.toOpaque())
        guard code == 0 else {
            unsafe poller.release()
            return nil
        }
        pthread_detach(thread)
    }

    /// Waits until a descriptor, which must stay open meanwhile, is ready for `events` of poll(2).
    func wait(for descriptor: Int32, _ events: Int32, until deadline: ContinuousClock.Instant) async -> Outcome {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isEntered = state.withLock { state in
                    // Cancelling sets the flag before it looks for the wait, so one of the two sees the other.
                    guard !Task.isCancelled else { return false }
                    state.waits[id] = Wait(
                        descriptor: descriptor, events: Int16(truncatingIfNeeded: events), deadline: deadline,
                        continuation: continuation)
                    return true
                }
                if isEntered { signal() } else { continuation.resume(returning: .cancelled) }
            }
        } onCancel: {
            // The thread may still poll the descriptor once more; nobody hears of it.
            state.withLock { $0.waits.removeValue(forKey: id) }?.continuation.resume(returning: .cancelled)
        }
    }

    private func signal() { eventfd_write(wake, 1) }

    private func run() {
        var set = sigset_t()
        unsafe sigfillset(&set)
        unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
        while true {
            let waits = state.withLock { $0.waits }
            var list = [pollfd(fd: wake, events: Int16(POLLIN), revents: 0)]
            let ids = waits.map { id, wait in
                list.append(pollfd(fd: wait.descriptor, events: wait.events, revents: 0))
                return id
            }
            _ = unsafe poll(&list, nfds_t(list.count), Self.milliseconds(until: waits.values.map(\.deadline).min()))
            var count: eventfd_t = 0
            unsafe eventfd_read(wake, &count)
            let now = ContinuousClock.now
            for (id, entry) in zip(ids, list.dropFirst()) {
                if entry.revents != 0 {
                    finish(id, .ready)
                } else if let wait = waits[id], wait.deadline <= now {
                    finish(id, .timedOut)
                }
            }
        }
    }

    private func finish(_ id: UInt64, _ outcome: Outcome) {
        state.withLock { $0.waits.removeValue(forKey: id) }?.continuation.resume(returning: outcome)
    }

    /// Rounded up, so that nobody is woken before the deadline; -1 without one.
    private static func milliseconds(until deadline: ContinuousClock.Instant?) -> Int32 {
        guard let deadline else { return -1 }
        let parts = ContinuousClock.now.duration(to: deadline).components
        guard parts.seconds >= 0, parts.attoseconds >= 0 else { return 0 }
        return Int32(
            clamping: min(parts.seconds, 1 << 32) * 1000
                + parts.attoseconds / 1_000_000_000_000_000 + 1)
    }
}
