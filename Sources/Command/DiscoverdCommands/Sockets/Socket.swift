#if Commands
internal import CommandFrame
internal import DNSSD
internal import Libc
internal import Synchronization
internal import DiscoverySystem

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
        set(Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, 25_000)
    }
}
#endif
