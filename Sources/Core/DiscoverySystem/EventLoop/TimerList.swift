import DNSSD
import Libc

/// The timers of a loop that have a deadline, in order: the latest first, so that those that fire are taken from the end.
///
/// libavahi-client makes and frees one for each D-Bus call. Where there are very many, a change moves the others in memory: some 20 µs
/// with the 22,528 that a finder through avahi-daemon has at most.
struct TimerList {
    private var entries: [(deadline: MonotonicTime, timer: LoopTimer)] = []

    /// The earliest deadline.
    var first: MonotonicTime? { entries.last?.deadline }

    var count: Int { entries.count }

    /// A timer's deadline was set, changed or cleared.
    mutating func changed(_ timer: LoopTimer, from old: MonotonicTime?) {
        if let old, let place = entries[start(of: old)...].firstIndex(where: { $0.timer === timer }) {
            entries.remove(at: place)
        }
        if let deadline = timer.deadline { entries.insert((deadline, timer), at: start(of: deadline)) }
    }

    /// The timers that are due, in order. They stay in the list until they change.
    func due(at now: MonotonicTime) -> [LoopTimer] { entries[start(of: now)...].reversed().map(\.timer) }

    /// Where the timers begin that fire at a time, or earlier.
    private func start(of deadline: MonotonicTime) -> Int { entries.partitioningIndex { $0.deadline <= deadline } }
}

/// One deadline of a loop. Touched by the loop's thread only.
///
/// The loop keeps it while it has a deadline.
package final class LoopTimer {
    package unowned let loop: EventLoop
    package var deadline: MonotonicTime? { didSet { if deadline != oldValue { loop.changed(self, from: oldValue) } } }
    package var fire: () -> Void = {}

    /// Creates a timer without a deadline.
    package init(loop: EventLoop, _ fire: @escaping () -> Void = {}) {
        self.loop = loop
        self.fire = fire
    }

    package func set(after delay: Duration) { deadline = MonotonicTime.now + delay }

    /// Never fires again.
    package func free() {
        deadline = nil
        fire = {}
    }
}

/// Microseconds of CLOCK_MONOTONIC: unaffected by setting the clock, and paused while the machine sleeps.
package struct MonotonicTime: Comparable, Sendable {
    package var microseconds: Int64

    package static var now: MonotonicTime {
        MonotonicTime(microseconds: reading(of: CLOCK_MONOTONIC).wholeMicroseconds)
    }

    package init(microseconds: Int64) { self.microseconds = microseconds }

    package static func < (one: MonotonicTime, other: MonotonicTime) -> Bool { one.microseconds < other.microseconds }

    package static func + (time: MonotonicTime, microseconds: Int64) -> MonotonicTime {
        MonotonicTime(microseconds: time.microseconds + microseconds)
    }

    package static func + (time: MonotonicTime, duration: Duration) -> MonotonicTime {
        time + duration.wholeMicroseconds
    }
}

/// Time since the machine started, including sleep: the time that the network counts while this machine does not.
package enum BootTime {
    package static var now: Duration { reading(of: CLOCK_BOOTTIME) }
    /// How long the machine has slept since it started.
    package static var asleep: Duration { now - reading(of: CLOCK_MONOTONIC) }
}

private func reading(of clock: clockid_t) -> Duration {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return Duration(secondsComponent: Int64(time.tv_sec), attosecondsComponent: Int64(time.tv_nsec) * 1_000_000_000)
}

extension Duration {
    package var wholeMicroseconds: Int64 {
        // Bounded to centuries on either side, so that adding it to a clock time stays within Int64.
        let (seconds, attoseconds) = min(max(self, .seconds(-1 << 40)), .seconds(1 << 40)).components
        return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    }

    package var wholeMilliseconds: Int { Int(wholeMicroseconds / 1000) }
}
