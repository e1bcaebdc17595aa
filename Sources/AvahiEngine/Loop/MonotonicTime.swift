import CAvahi
import Glibc

/// Microseconds of CLOCK_MONOTONIC: setting the clock does not move it, and it stands still while the machine sleeps.
struct MonotonicTime: Comparable {
    var microseconds: Int64

    static var now: MonotonicTime {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicTime(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000)
    }

    /// Where an absolute wall-clock time, as Avahi gives it, lies on this clock; the past becomes now (avahi-common/watch.h).
    init(wall: timeval) {
        var now = timeval()
        unsafe gettimeofday(&now, nil)
        let seconds = Int64(wall.tv_sec).subtractingReportingOverflow(Int64(now.tv_sec))
        let clamped = seconds.overflow ? 0 : min(max(seconds.partialValue, -1), 86_400 * 365)
        let difference = clamped * 1_000_000 + Int64(wall.tv_usec) - Int64(now.tv_usec)
        self = MonotonicTime.now + max(0, difference)
    }

    init(microseconds: Int64) { self.microseconds = microseconds }

    static func < (one: MonotonicTime, other: MonotonicTime) -> Bool { one.microseconds < other.microseconds }

    static func + (time: MonotonicTime, microseconds: Int64) -> MonotonicTime {
        MonotonicTime(microseconds: time.microseconds + microseconds)
    }

    static func + (time: MonotonicTime, duration: Duration) -> MonotonicTime { time + duration.wholeMicroseconds }
}

extension Duration {
    var wholeMicroseconds: Int64 {
        // Centuries on either side: what is added to a time of the clock stays within Int64.
        let (seconds, attoseconds) = min(max(self, .seconds(-1 << 40)), .seconds(1 << 40)).components
        return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    }
}
