import CAvahi
import DiscoverySystem
import Libc

/// Tries to connect to the system's avahi-daemon on a separate thread: D-Bus may try to activate an avahi-daemon that never comes, and
/// `avahi_client_new` waits 25 s for it. Used only on the loop's thread.
final class SystemProbe {
    private let descriptor: Int32
    private var watch: LoopWatch?

    /// `returned` is called later, on the loop's thread, unless this probe is freed first. Nil if no thread could be started.
    init?(loop: EventLoop, returned: @escaping () -> Void) {
        var ends: [Int32] = [-1, -1]
        guard unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0
        else { return nil }
        // The thread owns this end. Closing it is the message, which needs no reader.
        let far = ends[1]
        descriptor = ends[0]
        let code = SystemThread.start(named: "avahi-probe") {
            Self.connect()
            close(far)
        }
        guard code == 0 else {
            close(far)
            close(descriptor)
            return nil
        }
        watch = LoopWatch(loop: loop, descriptor: descriptor) { [weak self] _ in
            self?.free()
            returned()
        }
    }

    deinit { free() }

    /// Forgets the probe. Its thread ends when its call returns.
    func free() {
        guard let watch else { return }
        watch.free()
        close(descriptor)
        self.watch = nil
    }

    private static func connect() {
        guard let poll = unsafe avahi_simple_poll_new() else { return }
        defer { unsafe avahi_simple_poll_free(poll) }
        let client = unsafe avahi_client_new(
            avahi_simple_poll_get(poll), AVAHI_CLIENT_NO_FAIL, { _, _, _ in }, nil, nil)
        if let client = unsafe client { unsafe avahi_client_free(client) }
    }
}
