import Libc

/// Tells when the machine's name changes. Used only on the loop's thread.
@safe package final class MachineNameWatch {
    /// Its readers learn of a change by poll(2): POLLERR and POLLPRI (fs/proc/proc_sysctl.c).
    private static let path = "/proc/sys/kernel/hostname"

    private let descriptor: Int32
    private var watch: LoopWatch?

    /// Nil if the system does not tell.
    package init?(loop: EventLoop, _ changed: @escaping () -> Void) {
        descriptor = unsafe open(Self.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        watch = LoopWatch(loop: loop, descriptor: descriptor, events: Int16(POLLPRI)) { _ in changed() }
    }

    deinit {
        watch?.free()
        if descriptor >= 0 { close(descriptor) }
    }
}
