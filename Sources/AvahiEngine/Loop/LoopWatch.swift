import CAvahi
import Glibc

/// One file descriptor that Avahi watches. Touched by the loop's thread only.
@safe final class LoopWatch {
    unowned let loop: AvahiLoop
    let descriptor: Int32
    var wanted: UInt32
    var returned: Int16 = 0
    var isAlive = true
    private let callback: (LoopWatch) -> Void

    init(loop: AvahiLoop, descriptor: Int32, wanted: UInt32, callback: @escaping (LoopWatch) -> Void) {
        self.loop = loop
        self.descriptor = descriptor
        self.wanted = wanted
        self.callback = callback
        loop.add(self)
    }

    func fire() { callback(self) }

    /// libavahi-client passes D-Bus's own flags where poll's are expected (dbus-watch-glue.c of 0.8): bit 2 there means writable.
    var pollEvents: Int16 {
        var events = Int16(truncatingIfNeeded: wanted)
        if events & Int16(POLLPRI) != 0, events & Int16(POLLIN) == 0 { events |= Int16(POLLOUT) }
        return events & Int16(POLLIN | POLLOUT)
    }
}
