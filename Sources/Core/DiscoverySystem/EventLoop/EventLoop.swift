import CLinux
import Libc

/// One thread that polls descriptors, fires timers, and is the executor of an actor.
///
/// Callbacks of watches and timers and the actor's jobs take turns on this thread, so they need no lock.
///
/// `@unchecked Sendable` holds since what other threads touch is locked (`inbox`, `thread`, `late`) or never changes (`wake`); the rest
/// is touched by the loop's thread only, and before that runs by the thread that makes it.
package final class EventLoop: SerialExecutor, @unchecked Sendable {
    private enum Work {
        case job(UnownedJob)
        case block(@Sendable () -> Void)
    }

    private struct Inbox {
        var work: [Work] = []
        var isRunning = false
        var isStopping = false
        var whenStopped: [@Sendable () -> Void] = []
    }

    private let inbox = Locked(Inbox())
    private let wake = WakeUp()
    private let name: String

    // Touched by the loop's thread only, from here on.
    private(set) var watches: [LoopWatch] = []
    private(set) var timers = TimerList()
    private var polled: [pollfd] = []

    /// The loop's thread, while it runs.
    private let thread = Locked<pthread_t?>(nil)
    /// Held while work that came after the loop's end runs.
    private let late = Locked(())

    /// Starts the loop at once.
    package convenience init?(named name: String) {
        self.init(paused: name)
        guard start() else { return nil }
    }

    /// Does not run until `start`, so that another thread can first create objects that belong to the loop.
    package init?(paused name: String) {
        self.name = name
        guard wake.descriptor >= 0 else { return nil }
    }

    /// Starts the thread. Call it once.
    package func start() -> Bool {
        inbox.withLock { $0.isRunning = true }
        let isStarted = SystemThread.start(named: name) { [self] in run() } == 0
        if !isStarted { inbox.withLock { $0.isRunning = false } }
        return isStarted
    }

    // MARK: From any thread

    package func enqueue(_ job: consuming ExecutorJob) { add(.job(UnownedJob(job))) }

    /// Runs `block` on the loop's thread, after everything that was posted before.
    package func post(_ block: @escaping @Sendable () -> Void) { add(.block(block)) }

    /// Ends the loop once everything posted before has run; `done` runs last, on the loop's thread.
    package func stop(then done: @escaping @Sendable () -> Void = {}) {
        let isOver = inbox.withLock { inbox in
            guard inbox.isRunning else { return true }
            inbox.isStopping = true
            inbox.whenStopped.append(done)
            return false
        }
        isOver ? done() : wake.signal()
    }

    package func checkIsolated() { precondition(isOnLoop, "not on the loop's thread") }

    package func isIsolatingCurrentContext() -> Bool? { isOnLoop }

    package var isOnLoop: Bool {
        thread.withLock { thread in
            guard let thread else { return false }
            return pthread_equal(thread, pthread_self()) != 0
        }
    }

    private func add(_ work: Work) {
        enum Next { case nothing, signal, runHere }
        let next: Next = inbox.withLock { inbox in
            guard inbox.isRunning else { return .runHere }
            inbox.work.append(work)
            return inbox.work.count == 1 ? .signal : .nothing
        }
        switch next {
        case .nothing: break
        case .signal: wake.signal()
        case .runHere: runLate(work)
        }
    }

    /// A loop that has ended takes no work, and queued work would keep it alive: late cancellations and the actor's own
    /// deinit run on the caller's thread, one at a time.
    private func runLate(_ work: Work) {
        guard !isOnLoop else { return run(work) }
        late.withLock { _ in
            thread.withLock { $0 = pthread_self() }
            run(work)
            thread.withLock { $0 = nil }
        }
    }

    // MARK: On the loop's thread

    private func run() {
        thread.withLock { $0 = pthread_self() }
        var whenStopped: [@Sendable () -> Void]?
        while whenStopped == nil {
            turn()
            // One step: nothing may be added between the last check and the end.
            whenStopped = inbox.withLock { inbox in
                guard inbox.isStopping, inbox.work.isEmpty else { return nil }
                inbox.isRunning = false
                defer { inbox.whenStopped = [] }
                return inbox.whenStopped
            }
        }
        thread.withLock { $0 = nil }
        for block in whenStopped ?? [] { block() }
    }

    private func turn() {
        waitForEvents()
        runTimers()
        runWatches()
        runWork()
    }

    private func waitForEvents() {
        polled.removeAll(keepingCapacity: true)
        polled.append(pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0))
        for watch in watches { polled.append(pollfd(fd: watch.descriptor, events: watch.events, revents: 0)) }
        let result = unsafe polled.withUnsafeMutableBufferPointer { buffer in
            unsafe Libc.poll(buffer.baseAddress, nfds_t(buffer.count), millisecondsUntilTimer)
        }
        for (index, watch) in watches.enumerated() { watch.returned = result > 0 ? polled[index + 1].revents : 0 }
        guard result > 0, polled[0].revents != 0 else { return }
        // Before the work is taken: anything added after this point signals again.
        wake.clear()
    }

    private var millisecondsUntilTimer: Int32 {
        guard inbox.withLock({ $0.work.isEmpty }) else { return 0 }
        guard let first = timers.first else { return -1 }
        let left = first.microseconds - MonotonicTime.now.microseconds
        // Rounded up, or the loop would spin for the last fraction of a millisecond.
        return left <= 0 ? 0 : Int32(clamping: (left + 999) / 1_000)
    }

    private func runTimers() {
        let now = MonotonicTime.now
        // A snapshot: a callback may free this timer or any other, which clears its deadline.
        for timer in timers.due(at: now) {
            guard let deadline = timer.deadline, deadline <= now else { continue }
            timer.deadline = nil
            timer.fire()
        }
    }

    private func runWatches() {
        for watch in watches where watch.isAlive && watch.returned != 0 { watch.fire() }
    }

    private func runWork() {
        let work = inbox.withLock { inbox in
            let work = inbox.work
            inbox.work = []
            return work
        }
        for item in work { run(item) }
    }

    private func run(_ work: Work) {
        switch work {
        case .job(let job): unsafe job.runSynchronously(on: asUnownedSerialExecutor())
        case .block(let block): block()
        }
    }

    func add(_ watch: LoopWatch) { watches.append(watch) }

    func remove(_ watch: LoopWatch) { watches.removeAll { $0 === watch } }

    func changed(_ timer: LoopTimer, from old: MonotonicTime?) { timers.changed(timer, from: old) }
}

/// Wakes a thread that polls (eventfd(2)); closed with the last reference.
package final class WakeUp: Sendable {
    /// Readable from `signal` until `clear`; -1 if the system had none.
    package let descriptor: Int32

    package init() { descriptor = clinux_eventfd(0, false) }

    /// Counts: readable while signals are left; `clear` takes one.
    package init(signals: UInt32) { descriptor = clinux_eventfd(signals, true) }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Wakes the thread. Callable from any thread.
    package func signal() { eventfd_write(descriptor, 1) }

    package func clear() {
        var count: eventfd_t = 0
        unsafe eventfd_read(descriptor, &count)
    }
}

/// A file descriptor that a loop polls until `free`. The owner closes it. Used only on the loop's thread.
///
/// The loop keeps the watch until then.
package final class LoopWatch {
    package unowned let loop: EventLoop
    package let descriptor: Int32
    /// The events to wait for, as in poll(2).
    package var events: Int16
    /// What the last poll found.
    package internal(set) var returned: Int16 = 0
    private(set) var isAlive = true
    private let ready: (LoopWatch) -> Void

    package init(
        loop: EventLoop, descriptor: Int32, events: Int16 = Int16(POLLIN), ready: @escaping (LoopWatch) -> Void
    ) {
        (self.loop, self.descriptor, self.events, self.ready) = (loop, descriptor, events, ready)
        loop.add(self)
    }

    /// Stops reports, including the current turn's.
    package func free() {
        isAlive = false
        loop.remove(self)
    }

    func fire() { ready(self) }

    /// Takes what the last poll found: who does has done what there is to do, and this turn reports it no more.
    /// - Returns: whether there was something.
    package func take() -> Bool {
        defer { returned = 0 }
        return returned != 0
    }
}

/// A value of a loop's thread that other threads may hold.
///
/// `@unchecked Sendable` holds since `value` is private and only work on that thread gets it. Other threads only copy
/// and release it. If theirs is the last reference, the value has nothing left to do, like a core that has ended or a
/// closure that captures weakly.
package struct LoopBound<Value>: @unchecked Sendable {
    private let loop: EventLoop
    private let value: Value

    package init(to loop: EventLoop, _ value: Value) {
        self.loop = loop
        self.value = value
    }

    /// Runs `body` on the loop's thread, after everything that was posted before.
    package func post(_ body: @escaping @Sendable (Value) -> Void) { loop.post { body(value) } }
}
