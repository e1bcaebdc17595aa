internal import CKernel
internal import CommandFrame
internal import DNSSD
internal import Glibc
internal import Synchronization

/// Accepts connections on a thread of its own, never more at a time than there are places.
final class Acceptor: Sendable {
    private let listeners: ListeningSockets
    private let interfaces: InterfaceFilter
    /// A pipe with a byte for each free place: the thread takes one before it accepts.
    private let places: Pipe
    /// Readable once the acceptor has ended.
    private let stop: Pipe
    private let isStopped = Mutex(false)

    /// - Parameters:
    ///   - limit: how many connections there may be at a time.
    ///   - interfaces: by which they may come; others are closed. One from this machine counts as coming by the interface whose
    ///     address it is for.
    init(_ listeners: ListeningSockets, limit: Int, interfaces: InterfaceFilter = .all) throws(CommandError) {
        self.listeners = listeners
        self.interfaces = interfaces
        do throws(SystemError) {
            places = try Pipe()
            stop = try Pipe()
        } catch {
            throw CommandError(.systemError, "cannot accept connections: \(error)")
        }
        for _ in 0..<limit { places.put() }
    }

    /// The connections as they come, until `end()`; each must be followed by one `release()`. To be called once.
    ///
    /// The stream buffers no more than there are places.
    func connections() throws(CommandError) -> AsyncStream<Socket> {
        let (stream, continuation) = AsyncStream.makeStream(of: Socket.self)
        try BlockingThread.start {
            while self.wait(for: [self.places.readEnd]) {
                self.places.take()
                guard let socket = self.accept() else { break }
                continuation.yield(socket)
            }
            self.listeners.close()
            continuation.finish()
        }
        return stream
    }

    /// A connection has ended: its place is free.
    func release() { places.put() }

    /// Accepts no more.
    func end() {
        isStopped.withLock { isStopped in
            // Once, so that the pipe never fills.
            if !isStopped { stop.put() }
            isStopped = true
        }
    }

    /// Waits for one of the descriptors; false when the acceptor was ended.
    private func wait(for descriptors: [Int32]) -> Bool {
        var polled = (descriptors + [stop.readEnd]).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        while unsafe poll(&polled, nfds_t(polled.count), -1) < 1 {}
        return !isStopped.withLock { $0 }
    }

    /// Asked when it comes: addresses and interfaces may have changed since the socket was bound.
    private func isAllowed(_ connection: Socket) -> Bool {
        guard interfaces != .all else { return true }
        var name = [CChar](repeating: 0, count: 16)
        guard unsafe ckernel_arrival(connection.descriptor, &name) == 0 else { return false }
        return interfaces.allows(String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }

    private func accept() -> Socket? {
        while wait(for: listeners.sockets.map(\.descriptor)) {
            for listener in listeners.sockets {
                let descriptor = ChildProcess.newDescriptors.withLock { _ in
                    let descriptor = Glibc.accept(listener.descriptor, nil, nil)
                    if descriptor >= 0 { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
                    return descriptor
                }
                if descriptor >= 0 {
                    let socket = Socket(owning: descriptor)
                    guard isAllowed(socket) else { continue }
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
