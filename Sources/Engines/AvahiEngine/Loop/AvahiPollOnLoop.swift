import CAvahi
import DiscoverySystem
import Libc

/// Avahi's poll interface (avahi-common/watch.h) on an event loop. It must outlive the client made with it.
///
/// libavahi-client calls the seven functions on the loop's thread, also within callbacks of watches and timers, and then even for the one
/// being called. So freeing only marks and unlinks, and the loop checks again. libavahi-client blocks for up to 25 s in D-Bus when
/// avahi-daemon hangs; this happens only on a loop's thread.
@safe final class AvahiPollOnLoop {
    let poll: UnsafeMutablePointer<AvahiPoll>
    private let loop: EventLoop

    init(_ loop: EventLoop) {
        self.loop = loop
        unsafe poll = .allocate(capacity: 1)
        unsafe poll.initialize(to: AvahiPoll())
        unsafe poll.pointee.userdata = Unmanaged.passUnretained(self).toOpaque()
        unsafe poll.pointee.watch_new = { api, descriptor, events, callback, userdata in
            guard let loop = unsafe AvahiPollOnLoop.loop(of: api), let callback = unsafe callback else { return nil }
            let watch = LoopWatch(loop: loop, descriptor: descriptor, events: AvahiPollOnLoop.events(events)) { watch in
                let returned = AvahiWatchEvent(rawValue: UInt32(UInt16(bitPattern: watch.returned)))
                unsafe callback(AvahiPollOnLoop.pointer(to: watch), watch.descriptor, returned, userdata)
            }
            return unsafe OpaquePointer(Unmanaged.passRetained(watch).toOpaque())
        }
        unsafe poll.pointee.watch_update = { watch, events in
            unsafe AvahiPollOnLoop.watch(watch)?.events = AvahiPollOnLoop.events(events)
        }
        unsafe poll.pointee.watch_get_events = { watch in
            let returned = unsafe AvahiPollOnLoop.watch(watch)?.returned ?? 0
            return AvahiWatchEvent(rawValue: UInt32(UInt16(bitPattern: returned)))
        }
        unsafe poll.pointee.watch_free = { pointer in
            guard let watch = unsafe AvahiPollOnLoop.watch(pointer) else { return }
            watch.free()
            unsafe Unmanaged.passUnretained(watch).release()
        }
        unsafe poll.pointee.timeout_new = { api, time, callback, userdata in
            guard let loop = unsafe AvahiPollOnLoop.loop(of: api), let callback = unsafe callback else { return nil }
            let timer = LoopTimer(loop: loop)
            timer.deadline = unsafe time.map { unsafe MonotonicTime(wall: $0.pointee) }
            let pointer = unsafe OpaquePointer(Unmanaged.passRetained(timer).toOpaque())
            timer.fire = { unsafe callback(pointer, userdata) }
            return unsafe pointer
        }
        unsafe poll.pointee.timeout_update = { timer, time in
            unsafe AvahiPollOnLoop.timer(timer)?.deadline = time.map { unsafe MonotonicTime(wall: $0.pointee) }
        }
        unsafe poll.pointee.timeout_free = { pointer in
            guard let timer = unsafe AvahiPollOnLoop.timer(pointer) else { return }
            timer.free()
            unsafe Unmanaged.passUnretained(timer).release()
        }
    }

    deinit { unsafe poll.deallocate() }

    private static func loop(of api: UnsafePointer<AvahiPoll>?) -> EventLoop? {
        unsafe (api?.pointee.userdata).map {
            unsafe Unmanaged<AvahiPollOnLoop>.fromOpaque($0).takeUnretainedValue().loop
        }
    }

    /// libavahi-client passes D-Bus's flags instead of poll's (dbus-watch-glue.c of 0.8): bit 2 means writable.
    private static func events(_ wanted: AvahiWatchEvent) -> Int16 {
        var events = Int16(truncatingIfNeeded: wanted.rawValue)
        if events & Int16(POLLPRI) != 0, events & Int16(POLLIN) == 0 { events |= Int16(POLLOUT) }
        return events & Int16(POLLIN | POLLOUT)
    }

    private static func pointer(to watch: LoopWatch) -> OpaquePointer {
        unsafe OpaquePointer(Unmanaged.passUnretained(watch).toOpaque())
    }

    private static func watch(_ pointer: OpaquePointer?) -> LoopWatch? {
        unsafe pointer.map {
            unsafe Unmanaged<LoopWatch>.fromOpaque(UnsafeRawPointer($0)).takeUnretainedValue()
        }
    }

    private static func timer(_ pointer: OpaquePointer?) -> LoopTimer? {
        unsafe pointer.map {
            unsafe Unmanaged<LoopTimer>.fromOpaque(UnsafeRawPointer($0)).takeUnretainedValue()
        }
    }
}

extension MonotonicTime {
    /// Converts an absolute wall-clock time from Avahi to this clock; the past becomes now (avahi-common/watch.h).
    fileprivate init(wall: timeval) {
        var now = timeval()
        unsafe gettimeofday(&now, nil)
        let seconds = Int64(wall.tv_sec).subtractingReportingOverflow(Int64(now.tv_sec))
        let clamped = seconds.overflow ? 0 : min(max(seconds.partialValue, -1), 86_400 * 365)
        let difference = clamped * 1_000_000 + Int64(wall.tv_usec) - Int64(now.tv_usec)
        self = MonotonicTime.now + max(0, difference)
    }
}
