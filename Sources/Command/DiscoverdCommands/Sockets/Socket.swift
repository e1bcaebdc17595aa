#if Commands
internal import CommandFrame
internal import DNSSD
internal import Discovery
internal import DiscoverySystem
internal import Libc
internal import Synchronization

/// A socket, closed by `close()` or when its last reference goes.
final class Socket: Sendable {
    /// The descriptor; nil once closed, because its number may then belong to another file.
    private let state: Mutex<Int32?>
    /// The descriptor, for threads that read and write it on the owner's behalf; they must end before `close()`.
    let descriptor: Int32

    /// Takes ownership of a descriptor.
    init(owning descriptor: Int32) {
        self.descriptor = descriptor
        state = Mutex(descriptor)
    }

    /// Creates a stream socket.
    convenience init(family: Int32) throws(SystemError) {
        self.init(owning: try Sockets.make(family, waits: true))
    }

    deinit { close() }

    /// Ends sending: the peer reads end of file.
    func endSending() { state.withLock { if let descriptor = $0 { Libc.shutdown(descriptor, Int32(SHUT_WR)) } } }

    /// Ends sending and receiving, and wakes every thread that waits on it.
    func end() { state.withLock { if let descriptor = $0 { Libc.shutdown(descriptor, Int32(SHUT_RDWR)) } } }

    /// Frees the descriptor.
    func close() {
        let descriptor = handOver()
        if descriptor >= 0 { Libc.close(descriptor) }
    }

    /// Gives the descriptor away, as if it were closed; -1 if it is.
    func handOver() -> Int32 {
        state.withLock { state in
            defer { state = nil }
            return state ?? -1
        }
    }

    /// Closes with a reset, so that the peer does not see an orderly end of file.
    func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
        close()
    }

    /// Sets an integer option.
    func set(_ level: Int32, _ option: Int32, _ value: Int32) {
        Sockets.set(option, of: descriptor, level: level, to: value)
    }

    /// The local port; nil if not bound.
    var port: Port? { SocketAddress(of: descriptor)?.port.flatMap { Port(rawValue: $0) } }

    /// The address at the other end; nil where there is none any more.
    var peerAddress: IPAddress? {
        unsafe SocketAddress(filledBy: { unsafe getpeername(descriptor, $0, $1) == 0 })?.address
    }

    /// The pending error: the result of a non-blocking connect.
    var pendingError: Int32 { Sockets.pendingError(of: descriptor) }

    /// Detects within 30 s that the other host is gone, even when nothing is sent.
    func watchPeer() {
        set(SOL_SOCKET, SO_KEEPALIVE, 1)
        set(Int32(IPPROTO_TCP), TCP_KEEPIDLE, 10)
        set(Int32(IPPROTO_TCP), TCP_KEEPINTVL, 5)
        set(Int32(IPPROTO_TCP), TCP_KEEPCNT, 3)
        PeerWatch.shared.add(self)
    }

    fileprivate func followWindow() {
        state.withLock { if let descriptor = $0 { Sockets.followWindow(of: descriptor) } }
    }
}

/// The thread that looks at all connections of this process, as long as there are any: keepalive does not count while something is to be sent.
private final class PeerWatch: Sendable {
    private struct Watched {
        weak var socket: Socket?
    }

    private struct State {
        var watched: [Watched] = []
        var isRunning = false
    }

    static let shared = PeerWatch()
    private let state = Mutex(State())

    func add(_ socket: Socket) {
        let begins = state.withLock { state in
            state.watched.append(Watched(socket: socket))
            defer { state.isRunning = true }
            return !state.isRunning
        }
        // Without a thread, the system's own patience counts.
        if begins, (try? BlockingThread.start { self.run() }) == nil { state.withLock { $0 = State() } }
    }

    private func run() {
        var sockets: [Socket]? = []
        while sockets != nil {
            // None is kept while this thread sleeps.
            sockets = nil
            usleep(UInt32(Sockets.windowPeriod.milliseconds) * 1000)
            sockets = state.withLock { state in
                state.watched.removeAll { $0.socket == nil }
                state.isRunning = !state.watched.isEmpty
                return state.isRunning ? state.watched.compactMap(\.socket) : nil
            }
            sockets?.forEach { $0.followWindow() }
        }
    }
}

/// Connects sockets, waiting for each on its own thread: at most 8 at a time, and they end with the attempt.
///
/// Used instead of SwiftNIO because commands start faster without it (docs/decisions/0005-two-dialers.md).
struct SocketDialer: Dialer {
    func dial(_ endpoint: Endpoint) async throws -> Socket {
        do {
            return try await Self.connected(to: endpoint)
        } catch let error as SystemError {
            throw Self.failure(error.code)
        }
    }

    /// - Throws: `SystemError` where the system has the reason; `DialFailure`, or `CancellationError`.
    static func connected(to endpoint: Endpoint) async throws -> Socket {
        let address = SocketAddress(endpoint.address, port: endpoint.port.rawValue)
        let socket: Socket
        do throws(SystemError) {
            socket = try Socket(family: address.family)
        } catch {
            throw DialFailure(.refused, "no socket: \(error)")
        }
        let flags = fcntl(socket.descriptor, F_GETFL)
        _ = fcntl(socket.descriptor, F_SETFL, flags | O_NONBLOCK)
        if address.connect(socket.descriptor) != 0 {
            guard errno == EINPROGRESS else { throw SystemError(errno) }
            // Shutting down a connecting socket aborts the connection and wakes its poll.
            let error = try await withTaskCancellationHandler {
                try await wait(for: socket)
            } onCancel: {
                socket.end()
            }
            if Task.isCancelled { throw CancellationError() }
            guard error == 0 else { throw SystemError(error) }
        }
        _ = fcntl(socket.descriptor, F_SETFL, flags)
        socket.set(Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        socket.watchPeer()
        return socket
    }

    func close(_ connection: Socket) async { connection.close() }

    private static func wait(for socket: Socket) async throws -> Int32 {
        do {
            return try await BlockingThread.value {
                var descriptor = pollfd(fd: socket.descriptor, events: Int16(POLLOUT), revents: 0)
                while unsafe poll(&descriptor, 1, -1) < 1 {}
                return socket.pendingError
            }
        } catch let error as CommandError {
            throw DialFailure(.refused, error.message)
        }
    }

    static func failure(_ code: Int32) -> DialFailure {
        switch code {
        case ETIMEDOUT: DialFailure(.timeout, "no answer")
        case ECONNREFUSED: DialFailure(.refused, "connection refused")
        default: DialFailure(.refused, systemMessage(code).lowercasedFirst)
        }
    }
}

extension String {
    fileprivate var lowercasedFirst: String { prefix(1).lowercased() + dropFirst() }
}
#endif
