import Libc

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
}
