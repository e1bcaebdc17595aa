import CAvahi
import Glibc

/// The seven functions that libavahi-client calls (avahi-common/watch.h). All of them come on the loop's thread, also from within the
/// callbacks of watches and timers, and then also for the one being called: freeing marks and unlinks, and the loop looks again.
extension AvahiLoop {
    func installAvahiPoll() {
        unsafe poll.pointee.userdata = Unmanaged.passUnretained(self).toOpaque()
        unsafe poll.pointee.watch_new = { api, descriptor, events, callback, userdata in
            guard let loop = unsafe AvahiLoop.of(api), let callback = unsafe callback else { return nil }
            let watch = LoopWatch(loop: loop, descriptor: descriptor, wanted: events.rawValue) { watch in
                let returned = AvahiWatchEvent(rawValue: UInt32(UInt16(bitPattern: watch.returned)))
                unsafe callback(AvahiLoop.pointer(to: watch), watch.descriptor, returned, userdata)
            }
            return unsafe OpaquePointer(Unmanaged.passRetained(watch).toOpaque())
        }
        unsafe poll.pointee.watch_update = { watch, events in
            unsafe AvahiLoop.watch(watch)?.wanted = events.rawValue
        }
        unsafe poll.pointee.watch_get_events = { watch in
            let returned = unsafe AvahiLoop.watch(watch)?.returned ?? 0
            return AvahiWatchEvent(rawValue: UInt32(UInt16(bitPattern: returned)))
        }
        unsafe poll.pointee.watch_free = { pointer in
            guard let watch = unsafe AvahiLoop.watch(pointer) else { return }
            watch.loop.remove(watch)
            unsafe Unmanaged.passUnretained(watch).release()
        }
        unsafe poll.pointee.timeout_new = { api, time, callback, userdata in
            guard let loop = unsafe AvahiLoop.of(api), let callback = unsafe callback else { return nil }
            let timer = LoopTimer(loop: loop)
            timer.deadline = unsafe time.map { unsafe MonotonicTime(wall: $0.pointee) }
            let pointer = unsafe OpaquePointer(Unmanaged.passRetained(timer).toOpaque())
            timer.fire = { unsafe callback(pointer, userdata) }
            return unsafe pointer
        }
        unsafe poll.pointee.timeout_update = { timer, time in
            unsafe AvahiLoop.timer(timer)?.deadline = time.map { unsafe MonotonicTime(wall: $0.pointee) }
        }
        unsafe poll.pointee.timeout_free = { pointer in
            guard let timer = unsafe AvahiLoop.timer(pointer) else { return }
            timer.free()
            unsafe Unmanaged.passUnretained(timer).release()
        }
    }

    private static func of(_ api: UnsafePointer<AvahiPoll>?) -> AvahiLoop? {
        unsafe (api?.pointee.userdata).map { unsafe Unmanaged<AvahiLoop>.fromOpaque($0).takeUnretainedValue() }
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
