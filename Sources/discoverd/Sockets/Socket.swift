#if Commands
internal import CommandFrame
internal import DNSSD
internal import Glibc
internal import Synchronization
internal import System

/// A socket: closed by `close()`, or with the last reference to it.
final class Socket: Sendable {
    /// The descriptor; nil once closed. Guards against the use of a number that was given to another file.
    private let state: Mutex<Int32?>
    /// The descriptor, for the threads that this socket's owner has read and write it; they end before `close()`.
    let descriptor: Int32

    /// Takes over a descriptor.
    init(owning descriptor: Int32) {
        self.descriptor = descriptor
        state = Mutex(descriptor)
    }

    /// A new socket for streams.
    convenience init(family: Int32) throws(SystemError) {
        self.init(owning: try Sockets.make(family, waits: true))
    }

    deinit { close() }

    /// Ends sending: the other side reads an end of file.
    func endSending() { state.withLock { if let descriptor = $0 { Glibc.shutdown(descriptor, Int32(SHUT_WR)) } } }

    /// Ends sending and receiving, and whatever thread waits in it.
    func end() { state.withLock { if let descriptor = $0 { Glibc.shutdown(descriptor, Int32(SHUT_RDWR)) } } }

    /// Frees the descriptor.
    func close() {
        let descriptor = state.withLock { state in
            defer { state = nil }
            return state
        }
        if let descriptor { Glibc.close(descriptor) }
    }

    /// Closes so that the other side sees a reset instead of an end of file.
    func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
        close()
    }

    /// Sets an option that is a number.
    func set(_ level: Int32, _ option: Int32, _ value: Int32) {
        Sockets.set(option, of: descriptor, level: level, to: value)
    }

    /// The port to which it is bound; nil when it is not.
    var port: Port? { SocketAddress(of: descriptor)?.port.flatMap { Port(rawValue: $0) } }

    /// What connecting led to.
    var pendingError: Int32 { Sockets.pendingError(of: descriptor) }

    /// Finds out within 30 s that the other host is gone, also when nothing is sent.
    func watchPeer() {
        set(SOL_SOCKET, SO_KEEPALIVE, 1)
        set(Int32(IPPROTO_TCP), TCP_KEEPIDLE, 10)
        set(Int32(IPPROTO_TCP), TCP_KEEPINTVL, 5)
        set(Int32(IPPROTO_TCP), TCP_KEEPCNT, 3)
        set(Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, 25_000)
    }
}
#endif
