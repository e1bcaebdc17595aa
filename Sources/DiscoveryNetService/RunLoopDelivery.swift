import Discovery
import Dispatch
import Foundation
import System

/// Where delegates are called: the modes of the run loop in which an object is scheduled.
///
/// Work is done one after another, in the order in which it came. Who produces it waits until it is done, so there is
/// never more than one piece from each: what happens meanwhile gathers where it is bounded by what exists.
final class RunLoopDelivery: Sendable {
    typealias Work = @Sendable () -> Void

    /// `@unchecked`, as a run loop is not Sendable: of this one only `add(_:forMode:)` is called from other threads, which takes
    /// CoreFoundation's lock (CFRunLoopAddTimer). Timers are invalidated under that lock, too.
    private struct Place: @unchecked Sendable {
        let runLoop: RunLoop
        let mode: RunLoop.Mode
        /// A run loop without anything in a mode returns at once; the main one waits for its queue.
        let keepsAlive: Timer?

        /// The queue of the main run loop is served in the common modes, without a timer.
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
        /// Somebody was told to drain and has not begun.
        var isWoken = false
    }

    private let state = Locked(State())

    /// Scheduled in the default mode of the calling thread's run loop; code in a task has none of its own: the main one.
    static func scheduled() -> RunLoopDelivery {
        let delivery = RunLoopDelivery()
        let isInTask = withUnsafeCurrentTask { $0 != nil }
        delivery.schedule(in: isInTask ? RunLoop.main : RunLoop.current, forMode: .default)
        return delivery
    }

    /// The main queue is served by any thread in a program whose `main` is async: what runs there belongs to the main run
    /// loop, though that thread has one of its own, which nobody runs.
    private static let mainQueueKey: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    deinit {
        for place in state.withLock({ $0.places }) { place.keepsAlive?.invalidate() }
    }

    /// Adds a mode; another run loop takes the place of the one before.
    func schedule(in runLoop: RunLoop, forMode mode: RunLoop.Mode) {
        let isOnMainQueue = DispatchQueue.getSpecific(key: Self.mainQueueKey) != nil
        let runLoop = isOnMainQueue && runLoop === RunLoop.current ? RunLoop.main : runLoop
        var keepsAlive: Timer?
        if runLoop !== RunLoop.main {
            let timer = Timer(fire: .distantFuture, interval: 0, repeats: false) { _ in }
            runLoop.add(timer, forMode: mode)
            keepsAlive = timer
        }
        let place = Place(runLoop: runLoop, mode: mode, keepsAlive: keepsAlive)
        let left = state.withLock { state in
            let left = state.places.filter { $0.runLoop !== place.runLoop || $0.mode == place.mode }
            state.places = state.places.filter { $0.runLoop === place.runLoop && $0.mode != place.mode } + [place]
            state.isWoken = false
            return left
        }
        for place in left { place.keepsAlive?.invalidate() }
        wake()
    }

    /// Takes a mode away; with the last one nothing is delivered until there is one again.
    func remove(from runLoop: RunLoop, forMode mode: RunLoop.Mode) {
        let key = Place(runLoop: runLoop, mode: mode, keepsAlive: nil)
        let left = state.withLock { state in
            let left = state.places.filter { $0.runLoop === key.runLoop && $0.mode == key.mode }
            state.places.removeAll { $0.runLoop === key.runLoop && $0.mode == key.mode }
            state.isWoken = false
            return left
        }
        for place in left { place.keepsAlive?.invalidate() }
        wake()
    }

    /// Puts work in line, and does not wait for it.
    func post(_ work: @escaping Work) {
        state.withLock { state in
            state.lastID += 1
            state.jobs.append(Job(id: state.lastID, work: work))
        }
        wake()
    }

    /// Puts work in line and waits until it is done. When the task is cancelled before, it is never done.
    func deliver(_ work: @escaping Work) async {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // Cancelling sets the flag before it looks for the job, so one of the two sees the other.
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
            // Not `perform(inModes:block:)`: it does not wake a run loop that waits.
            let timer = Timer(fire: Date(), interval: 0, repeats: false) { [self] _ in
                drain(in: runLoop)
                // `run(mode:before:)` returns after something other than a timer was done; this is meant to be such a thing.
                RunLoop.current._stop()
            }
            place.runLoop.add(timer, forMode: place.mode)
        }
    }

    /// Does what is in line; on the thread of the run loop.
    private func drain(in runLoop: ObjectIdentifier) {
        while let job = next(in: runLoop) {
            job.work()
            job.waiter?.resume()
        }
    }

    private func next(in runLoop: ObjectIdentifier) -> Job? {
        state.withLock { state in
            // Scheduled elsewhere by now: that run loop has been woken.
            guard let place = state.places.first, ObjectIdentifier(place.runLoop) == runLoop else { return nil }
            state.isWoken = false
            return state.jobs.isEmpty ? nil : state.jobs.removeFirst()
        }
    }
}

/// An object that belongs to one run loop, to be carried there by what is not of it.
///
/// `@unchecked` holds since `object` is read by work of a `RunLoopDelivery` only. Weak, as nothing that goes on in the
/// background keeps an object whose owner has let it go.
struct RunLoopBound<Object: AnyObject>: @unchecked Sendable {
    private(set) weak var object: Object?

    init(_ object: Object) { self.object = object }
}
