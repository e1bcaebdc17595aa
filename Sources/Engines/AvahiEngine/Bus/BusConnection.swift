import DiscoverySystem
import Libc

/// A connection with a bus, for one conversation. Used only on the loop's thread; never blocks.
final class BusConnection {
    private let watch: LoopWatch

    /// Connects to the first of some sockets that takes it, and greets; nil if none does.
    /// - Parameter ready: called when there is something to read.
    init?(to sockets: [String], on loop: EventLoop, ready: @escaping () -> Void) {
        guard let descriptor = Self.connected(to: sockets) else { return nil }
        watch = LoopWatch(loop: loop, descriptor: descriptor) { _ in ready() }
        guard send(BusStream.greeting(user: geteuid())) else {
            close()
            return nil
        }
    }

    /// No `lazy.compactMap(…).first`: that connects twice, and only one of the two is closed.
    private static func connected(to sockets: [String]) -> Int32? {
        for socket in sockets {
            guard let address = SocketAddress(unix: Array(socket.utf8)) else { continue }
            if let descriptor = try? Sockets.connected(to: address) { return descriptor }
        }
        return nil
    }

    /// Ends it; nothing else is called afterwards.
    func close() {
        watch.free()
        Libc.close(watch.descriptor)
    }

    /// Returns whether the bus has taken it. What is sent here fits the socket's buffer, or something is wrong.
    func send(_ bytes: [UInt8]) -> Bool {
        unsafe Libc.send(watch.descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }

    /// What has come, which may be nothing; nil when the bus has gone.
    func read() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = unsafe recv(watch.descriptor, &buffer, buffer.count, 0)
        if count < 0, errno == EAGAIN || errno == EINTR { return [] }
        return count > 0 ? Array(buffer[..<count]) : nil
    }
}
