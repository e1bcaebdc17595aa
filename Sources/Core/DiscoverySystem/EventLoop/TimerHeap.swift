import Libc

/// The timers of a loop that have a deadline, earliest first: a binary heap in which each timer knows its index, so
/// that moving or removing one takes logarithmic time. libavahi-client creates and frees one for each D-Bus call.
struct TimerHeap {
    private var timers: [LoopTimer] = []

    /// The earliest deadline.
    var first: MonotonicTime? { timers.first?.deadline }

    var count: Int { timers.count }

    /// A timer's deadline was set, changed or cleared.
    mutating func changed(_ timer: LoopTimer) {
        switch (timer.place, timer.deadline) {
        case (nil, nil): break
        case (nil, .some):
            timers.append(timer)
            timer.place = timers.count - 1
            rise(from: timers.count - 1)
        case (.some(let place), .some): settle(at: place)
        case (.some(let place), nil): remove(at: place)
        }
    }

    /// The timers that are due, in order. They stay in the heap until they change.
    func due(at now: MonotonicTime) -> [LoopTimer] {
        var due: [LoopTimer] = []
        var places = [0]
        while let place = places.popLast() {
            guard place < timers.count, isDue(timers[place], now) else { continue }
            due.append(timers[place])
            places.append(2 * place + 1)
            places.append(2 * place + 2)
        }
        return due.count < 2 ? due : due.sorted { Self.precedes($0, $1) }
    }

    private func isDue(_ timer: LoopTimer, _ now: MonotonicTime) -> Bool { timer.deadline.map { $0 <= now } ?? false }

    private mutating func remove(at place: Int) {
        timers[place].place = nil
        let last = timers.removeLast()
        guard place < timers.count else { return }
        timers[place] = last
        last.place = place
        settle(at: place)
    }

    private mutating func settle(at place: Int) {
        rise(from: place)
        sink(from: place)
    }

    private mutating func rise(from place: Int) {
        var child = place
        while child > 0 {
            let parent = (child - 1) / 2
            guard Self.precedes(timers[child], timers[parent]) else { return }
            swap(child, parent)
            child = parent
        }
    }

    private mutating func sink(from place: Int) {
        var parent = place
        while true {
            var least = parent
            for child in 2 * parent + 1...2 * parent + 2 where child < timers.count {
                if Self.precedes(timers[child], timers[least]) { least = child }
            }
            guard least != parent else { return }
            swap(parent, least)
            parent = least
        }
    }

    private mutating func swap(_ one: Int, _ other: Int) {
        timers.swapAt(one, other)
        timers[one].place = one
        timers[other].place = other
    }

    /// Only timers with a deadline are here.
    private static func precedes(_ one: LoopTimer, _ other: LoopTimer) -> Bool {
        guard let first = one.deadline, let second = other.deadline else { return false }
        return first < second
    }
}

/// One deadline of a loop. Touched by the loop's thread only.
///
/// The loop keeps it while it has a deadline.
package final class LoopTimer {
    package unowned let loop: EventLoop
    package var deadline: MonotonicTime? { didSet { if deadline != oldValue { loop.changed(self) } } }
    /// Its index in the loop's heap; maintained by the heap.
    var place: Int?
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
