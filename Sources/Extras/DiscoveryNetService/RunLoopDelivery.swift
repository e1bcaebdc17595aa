import Discovery
import DiscoverySystem
import Dispatch
import Foundation

/// Calls delegates in the run loop modes in which an object is scheduled.
///
/// Work runs one piece at a time, in order. A producer waits until its work is done, so each has at most one piece in line; meanwhile its
/// news accumulates where it is bounded by what exists.
final class RunLoopDelivery: Sendable {
    typealias Work = @Sendable () -> Void

    /// `@unchecked` because a run loop is not Sendable: other threads call only its `add(_:forMode:)`, which takes CoreFoundation's lock
    /// (CFRunLoopAddTimer). Timers are invalidated under that lock, too.
    private struct Place: @unchecked Sendable {
        let runLoop: RunLoop
        let mode: RunLoop.Mode
        /// A run loop with nothing in a mode returns immediately; the main one waits for its queue.
        let keepsAlive: Timer?

        /// The main run loop serves its queue in the common modes, without a timer.
        var isMainQueue: Bool { runLoop === RunLoop.main && (mode == .default || mode == .common) }
    }

    private struct Job {
        let id: UInt64
        let work: Work
        var waiter: CheckedContinuation<Void, Never>?
    }

    private struct State {
        var places: [Place] = []
        var jobs: [Job] = []
        var lastID: UInt64 = 0
        /// A drain has been requested but has not begun.
        var isWoken = false
    }

    private let state = Locked(State())

    /// Schedules in the default mode of the calling thread's run loop; for a task, which has none, in the main one.
    static func scheduled() -> RunLoopDelivery {
        let delivery = RunLoopDelivery()
        let isInTask = withUnsafeCurrentTask { $0 != nil }
        delivery.schedule(in: isInTask ? RunLoop.main : RunLoop.current, forMode: .default)
        return delivery
    }

    /// In a program with an async `main`, any thread may serve the main queue. Work there belongs to the main run loop, even though the
    /// thread has a run loop of its own, which no one runs.
    private static let mainQueueKey: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    deinit {
        for place in state.withLock({ $0.places }) { place.keepsAlive?.invalidate() }
    }

    /// Adds a mode; another run loop replaces the previous one.
    func schedule(in runLoop: RunLoop, forMode mode: RunLoop.Mode) {
        let isOnMainQueue = DispatchQueue.getSpecific(key: Self.mainQueueKey) != nil
        let runLoop = isOnMainQueue && runLoop === RunLoop.current ? RunLoop.main : runLoop
        var keepsAlive: Timer?
        if runLoop !== RunLoop.main {
            let timer = Timer(fire: .distantFuture, interval: 0, repeats: false) { _ in }
            runLoop.add(timer, forMode: mode)
            keepsAlive = timer
        }
        keep(and: [Place(runLoop: runLoop, mode: mode, keepsAlive: keepsAlive)]) {
            $0.runLoop === runLoop && $0.mode != mode
        }
    }

    /// Removes a mode; without any, nothing is delivered until one is added.
    func remove(from runLoop: RunLoop, forMode mode: RunLoop.Mode) {
        keep { $0.runLoop !== runLoop || $0.mode != mode }
    }

    private func keep(and added: [Place] = [], where isKept: (Place) -> Bool) {
        let left = state.withLock { state in
            let left = state.places.filter { !isKept($0) }
            state.places = state.places.filter(isKept) + added
            state.isWoken = false
            return left
        }
        for place in left { place.keepsAlive?.invalidate() }
        wake()
    }

    /// Enqueues work without waiting for it.
    func post(_ work: @escaping Work) {
        state.withLock { state in
            state.lastID += 1
            state.jobs.append(Job(id: state.lastID, work: work))
        }
        wake()
    }

    /// Enqueues work and waits until it is done. If the task is cancelled first, the work is dropped.
    func deliver(_ work: @escaping Work) async {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // Cancelling sets the flag before it looks for the job, so one of the two notices the other.
                let isOver = state.withLock { state in
                    guard !Task.isCancelled else { return true }
                    state.jobs.append(Job(id: id, work: work, waiter: continuation))
                    return false
                }
                if isOver { continuation.resume() } else { wake() }
            }
        } onCancel: {
            let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
                guard let index = state.jobs.firstIndex(where: { $0.id == id }) else { return nil }
                return state.jobs.remove(at: index).waiter
            }
            waiter?.resume()
        }
    }

    private func wake() {
        let places = state.withLock { state -> [Place] in
            guard !state.jobs.isEmpty, !state.isWoken, !state.places.isEmpty else { return [] }
            state.isWoken = true
            return state.places
        }
        guard let first = places.first else { return }
        let runLoop = ObjectIdentifier(first.runLoop)
        if places.contains(where: \.isMainQueue) { DispatchQueue.main.async { [self] in drain(in: runLoop) } }
        for place in places where !place.isMainQueue {
            // Not `perform(inModes:block:)`, which does not wake a waiting run loop.
            let timer = Timer(fire: Date(), interval: 0, repeats: false) { [self] _ in
                drain(in: runLoop)
                // `run(mode:before:)` returns after handling anything but a timer; this must count as such an event.
                RunLoop.current._stop()
            }
            place.runLoop.add(timer, forMode: place.mode)
        }
    }

    /// Runs the enqueued work, on the run loop's thread.
    private func drain(in runLoop: ObjectIdentifier) {
        while let job = next(in: runLoop) {
            job.work()
            job.waiter?.resume()
        }
    }

    private func next(in runLoop: ObjectIdentifier) -> Job? {
        state.withLock { state in
            // Scheduled elsewhere by now; that run loop has been woken.
            guard let place = state.places.first, ObjectIdentifier(place.runLoop) == runLoop else { return nil }
            state.isWoken = false
            return state.jobs.isEmpty ? nil : state.jobs.removeFirst()
        }
    }
}

/// Carries an object that belongs to one run loop there, for code outside it.
///
/// `@unchecked` is sound because only work of a `RunLoopDelivery` reads `object`. Weak, because background work must not keep an object
/// alive that its owner has released.
struct RunLoopBound<Object: AnyObject>: @unchecked Sendable {
    private(set) weak var object: Object?

    init(_ object: Object) { self.object = object }
}
