package import Libc

/// Sockets as descriptors: close-on-exec, and closed by their owner.
package enum Sockets {
    /// Creates an unconnected socket.
    package static func make(
        _ family: Int32, _ type: __socket_type = SOCK_STREAM, waits: Bool = false
    ) throws(SystemError) -> Int32 {
        let flags = type.rawValue | SOCK_CLOEXEC.rawValue | (waits ? 0 : SOCK_NONBLOCK.rawValue)
        let socket = Libc.socket(family, Int32(truncatingIfNeeded: flags), 0)
        guard socket >= 0 else { throw SystemError(errno, "socket") }
        return socket
    }

    /// Creates a connected socket, or fails at once.
    package static func connected(to address: SocketAddress, waits: Bool = false) throws(SystemError) -> Int32 {
        let socket = try make(address.family, waits: waits)
        guard address.connect(socket) == 0 else {
            let error = SystemError(errno, "connect")
            close(socket)
            throw error
        }
        return socket
    }

    /// Creates a listening socket.
    package static func listening(at address: SocketAddress, backlog: Int32) throws(SystemError) -> Int32 {
        let socket = try make(address.family)
        set(SO_REUSEADDR, of: socket, to: 1)
        guard address.bind(socket) == 0, listen(socket, backlog) == 0 else {
            let error = SystemError(errno, "bind")
            close(socket)
            throw error
        }
        return socket
    }

    /// A numeric option; nil if the socket has none.
    package static func option(_ option: Int32, of socket: Int32, level: Int32 = SOL_SOCKET) -> Int32? {
        var value: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        return unsafe getsockopt(socket, level, option, &value, &size) == 0 ? value : nil
    }

    /// Sets a numeric option.
    /// - Returns: whether the socket has it.
    @discardableResult
    package static func set(_ option: Int32, of socket: Int32, level: Int32 = SOL_SOCKET, to value: Int32) -> Bool {
        var value = value
        return unsafe setsockopt(socket, level, option, &value, socklen_t(MemoryLayout<Int32>.size)) == 0
    }

    /// The result of a connection attempt: 0 or an `errno`.
    package static func pendingError(of socket: Int32) -> Int32 { option(SO_ERROR, of: socket) ?? errno }
}
