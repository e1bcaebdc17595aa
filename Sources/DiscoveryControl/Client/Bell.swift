internal import Glibc

/// Wakes a thread that polls. A pair of sockets, for Swift has neither eventfd nor pipe2; both ends are closed with the last reference.
final class Bell: Sendable {
    /// To be polled for reading; -1 when the system had none.
    let descriptor: Int32
    private let writing: Int32

    init() {
        var ends: [Int32] = [-1, -1]
        let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        _ = unsafe socketpair(AF_UNIX, Int32(kind), 0, &ends)
        (descriptor, writing) = (ends[0], ends[1])
    }

    deinit { for end in [descriptor, writing] where end >= 0 { close(end) } }

    func ring() {
        var byte: UInt8 = 1
        // A full one is a bell that rings.
        _ = unsafe send(writing, &byte, 1, Int32(MSG_NOSIGNAL))
    }

    /// - Returns: whether it was rung before `deadline`; then it is silent again.
    func wait(until deadline: Deadline) -> Bool {
        var item = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while true {
            let count = unsafe poll(&item, 1, deadline.milliseconds)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            silence()
            return true
        }
    }

    /// Makes it silent again.
    func silence() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while unsafe read(descriptor, &bytes, bytes.count) > 0 {}
    }
}
