internal import Glibc
internal import Synchronization

/// Accepts connections on a thread of its own, never more at a time than there are places.
final class Acceptor: Sendable {
    private let listeners: ListeningSockets
    /// Counts free places: the thread takes one before it accepts (eventfd(2), EFD_SEMAPHORE).
    private let places: Int32
    /// Readable once the acceptor has ended.
    private let stop: Int32
    private let isStopped = Mutex(false)

    /// - Parameter limit: how many connections there may be at a time.
    init(_ listeners: ListeningSockets, limit: Int) throws(CommandError) {
        self.listeners = listeners
        places = eventfd(UInt32(limit), Int32(EFD_SEMAPHORE.rawValue | EFD_CLOEXEC.rawValue))
        stop = eventfd(0, Int32(EFD_CLOEXEC.rawValue))
        guard places >= 0, stop >= 0 else {
            throw CommandError(.systemError, "cannot accept connections: \(systemMessage(errno))")
        }
    }

    deinit {
        close(places)
        close(stop)
    }

    /// The connections as they come, until `end()`; each must be followed by one `release()`. To be called once.
    ///
    /// The stream buffers no more than there are places.
    func connections() throws(CommandError) -> AsyncStream<Socket> {
        let (stream, continuation) = AsyncStream.makeStream(of: Socket.self)
        try SystemThread.start {
            while self.wait(for: [self.places]) {
                var count: UInt64 = 0
                _ = unsafe read(self.places, &count, 8)
                guard let socket = self.accept() else { break }
                continuation.yield(socket)
            }
            self.listeners.close()
            continuation.finish()
        }
        return stream
    }

    /// A connection has ended: its place is free.
    func release() {
        var one: UInt64 = 1
        _ = unsafe write(places, &one, 8)
    }

    /// Accepts no more.
    func end() {
        var one: UInt64 = 1
        isStopped.withLock { $0 = true }
        _ = unsafe write(stop, &one, 8)
    }

    /// Waits for one of the descriptors; false when the acceptor was ended.
    private func wait(for descriptors: [Int32]) -> Bool {
        var polled = (descriptors + [stop]).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        while unsafe poll(&polled, nfds_t(polled.count), -1) < 1 {}
        return !isStopped.withLock { $0 }
    }

    private func accept() -> Socket? {
        while wait(for: listeners.sockets.map(\.descriptor)) {
            for listener in listeners.sockets {
                let descriptor = unsafe accept4(listener.descriptor, nil, nil, Int32(SOCK_CLOEXEC.rawValue))
                if descriptor >= 0 {
                    let socket = Socket(owning: descriptor)
                    socket.set(Int32(IPPROTO_TCP), TCP_NODELAY, 1)
                    socket.watchPeer()
                    return socket
                }
                // Out of descriptors or memory: the connection waits in the backlog, and asking at once would spin.
                if errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM { usleep(100_000) }
            }
        }
        return nil
    }
}
