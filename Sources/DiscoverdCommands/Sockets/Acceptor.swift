#if Commands
internal import CLinux
internal import CommandFrame
internal import Libc
internal import Synchronization
internal import DiscoverySystem

/// Accepts connections on its own thread, up to a limit at a time.
final class Acceptor: Sendable {
    private let listeners: ListeningSockets
    /// Signalled once per free place; the thread takes one before each accept.
    private let places: WakeUp
    /// Readable once the acceptor has ended.
    private let stop = WakeUp()
    private let isStopped = Mutex(false)

    /// - Parameter limit: the maximum number of concurrent connections.
    init(_ listeners: ListeningSockets, limit: Int) throws(CommandError) {
        self.listeners = listeners
        places = WakeUp(signals: UInt32(clamping: limit))
        guard places.descriptor >= 0, stop.descriptor >= 0 else {
            throw CommandError(.systemError, "cannot accept connections", errno: EMFILE)
        }
    }

    /// The connections as they arrive, until `end()`. Call it once, and call `release()` once for each connection.
    ///
    /// The buffer holds at most `limit` connections.
    func connections() throws(CommandError) -> AsyncStream<Socket> {
        let (stream, continuation) = AsyncStream.makeStream(of: Socket.self)
        try BlockingThread.start {
            while self.wait(for: [self.places.descriptor]) {
                self.places.clear()
                guard let socket = self.accept() else { break }
                continuation.yield(socket)
            }
            self.listeners.close()
            continuation.finish()
        }
        return stream
    }

    /// Frees a connection's place after it has ended.
    func release() { places.signal() }

    /// Stops accepting.
    func end() {
        isStopped.withLock { $0 = true }
        stop.signal()
    }

    /// Waits for one of the descriptors, and follows interface changes meanwhile. Returns false once the acceptor has ended.
    private func wait(for descriptors: [Int32]) -> Bool {
        let changes = listeners.bounds.map { [$0.changes] } ?? []
        while true {
            var polled = (descriptors + [stop.descriptor] + changes).map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            guard unsafe poll(&polled, nfds_t(polled.count), -1) > 0 else { continue }
            if let bounds = listeners.bounds, polled.last?.revents != 0 { bounds.refresh(listeners.sockets) }
            if polled.dropLast(changes.count).contains(where: { $0.revents != 0 }) {
                return !isStopped.withLock { $0 }
            }
        }
    }

    private func accept() -> Socket? {
        while wait(for: listeners.sockets.map(\.descriptor)) {
            for listener in listeners.sockets {
                let descriptor = clinux_accept(listener.descriptor)
                if descriptor >= 0 {
                    let socket = Socket(owning: descriptor)
                    guard listeners.bounds?.admits(socket) ?? true else { continue }
                    socket.set(Int32(IPPROTO_TCP), TCP_NODELAY, 1)
                    socket.watchPeer()
                    return socket
                }
                // Out of descriptors or memory: the connection waits in the backlog. Retrying at once would spin.
                if errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM { usleep(100_000) }
            }
        }
        return nil
    }
}
#endif
