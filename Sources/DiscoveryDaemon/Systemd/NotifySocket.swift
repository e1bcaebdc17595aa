internal import DiscoverySystem
internal import Libc

/// Where a service manager listens for sd_notify(3): a datagram socket, by path or by abstract name.
struct NotifySocket: Sendable {
    private let address: SocketAddress

    /// `/run/systemd/notify`, or `@name`. Nil for another kind of address (as `vsock:`), and for one that is too long.
    init?(_ name: String) {
        guard let address = SocketAddress(unixName: name) else { return nil }
        self.address = address
    }

    /// Sends one datagram; never waits.
    /// - Returns: whether it was taken.
    func send(_ message: String) -> Bool {
        guard let descriptor = try? Sockets.make(AF_UNIX, SOCK_DGRAM) else { return false }
        defer { close(descriptor) }
        let bytes = Array(message.utf8)
        return unsafe address.withPointer {
            unsafe sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, $1) == bytes.count
        }
    }
}
