#if Commands
internal import CommandFrame
internal import DNSSD
internal import DiscoverySystem
internal import Libc

/// Listening sockets that share one port.
struct ListeningSockets: Sendable {
    let sockets: [Socket]
    let port: Port
    /// The interfaces that connections may use; nil for all.
    var bounds: InterfaceBounds?

    /// Listens on every address of this machine: one socket for IPv6 and IPv4, or for IPv4 alone if there is no IPv6, or for the only
    /// family wanted.
    /// - Parameters:
    ///   - port: nil lets the system choose.
    ///   - interfaces: the interfaces that connections may use; others get no answer. A connection from this machine counts as using the
    ///     interface that owns its destination address, and is closed if that is another.
    static func everywhere(
        port: Port?, family: IPAddress.Family?, interfaces: InterfaceFilter
    ) throws -> ListeningSockets {
        try reporting(port) { number throws(SystemError) in
            let bounds = try InterfaceBounds(interfaces)
            if family != .ipv4 {
                do throws(SystemError) {
                    let any = IPAddress.v6(IPv6Address(high: 0, low: 0), scope: 0)
                    return try listening([bound(to: any, number, isDual: family == nil)], within: bounds)
                } catch {
                    let isMissing = error.code == EAFNOSUPPORT || error.code == EADDRNOTAVAIL
                    guard family == nil, isMissing else { throw error }
                }
            }
            return try listening([bound(to: .v4(IPv4Address(bits: 0)), number)], within: bounds)
        }
    }

    /// Listens on one address, or on both loopback addresses; the second only if it exists and the port is free on it.
    static func local(_ addresses: [IPAddress], port: Port?) throws -> ListeningSockets {
        try reporting(port) { number throws(SystemError) in
            guard let first = addresses.first else { throw SystemError(EADDRNOTAVAIL) }
            var sockets = [try bound(to: first, number)]
            for other in addresses.dropFirst() {
                guard let port = sockets[0].port else { continue }
                if let socket = try? bound(to: other, port.rawValue) { sockets.append(socket) }
            }
            return try listening(sockets)
        }
    }

    func close() { for socket in sockets { socket.close() } }

    private static func bound(
        to address: IPAddress,
        _ port: UInt16,
        isDual: Bool = false
    ) throws(SystemError) -> Socket {
        let socketAddress = SocketAddress(address, port: port)
        let socket = try Socket(family: socketAddress.family)
        socket.set(SOL_SOCKET, SO_REUSEADDR, 1)
        if address.family == .ipv6 { socket.set(Int32(IPPROTO_IPV6), IPV6_V6ONLY, isDual ? 0 : 1) }
        // Reports the interface of each connection (`InterfaceBounds`); IPv6 sockets do so anyway. 8 is IP_PKTINFO.
        if address.family == .ipv4 { socket.set(Int32(IPPROTO_IP), 8, 1) }
        guard socketAddress.bind(socket.descriptor) == 0 else { throw SystemError(errno) }
        return socket
    }

    private static func listening(
        _ sockets: [Socket], within bounds: InterfaceBounds? = nil
    ) throws(SystemError) -> ListeningSockets {
        // Must precede listen, so that no one can connect unchecked.
        for socket in sockets { try bounds?.hold(for: socket) }
        for socket in sockets {
            // As many as the system has: where they are full, a caller hears nothing for a second, then for longer.
            guard listen(socket.descriptor, SOMAXCONN) == 0 else { throw SystemError(errno) }
            // A client may be gone before accept, which must not block then (accept(2)).
            _ = fcntl(socket.descriptor, F_SETFL, fcntl(socket.descriptor, F_GETFL) | O_NONBLOCK)
        }
        guard let port = sockets.first?.port else { throw SystemError(EINVAL) }
        return ListeningSockets(sockets: sockets, port: port, bounds: bounds)
    }

    /// Runs `body` with the port's number, 0 for any, and says what is wrong with the port.
    private static func reporting(
        _ port: Port?, _ body: (UInt16) throws(SystemError) -> ListeningSockets
    ) throws(CommandError) -> ListeningSockets {
        do throws(SystemError) {
            return try body(port?.rawValue ?? 0)
        } catch {
            let advice =
                switch error.code {
                case EADDRINUSE: ["Another program has it; 0 takes a free port."]
                case EACCES: ["Ports under 1024 need CAP_NET_BIND_SERVICE."]
                default: [String]()
                }
            let place = port.map { "port \($0)" } ?? "a port"
            throw CommandError(.systemError, "cannot listen on \(place): \(error)", advice: advice)
        }
    }
}

/// The interfaces that listening sockets are bound to, including those that appear later.
final class InterfaceBounds: Sendable {
    /// Readable when interfaces have changed; then call `refresh`.
    let changes: Int32
    private let limit: InterfaceLimit

    /// Nil if every interface is allowed.
    init?(_ interfaces: InterfaceFilter) throws(SystemError) {
        guard let limit = InterfaceLimit(interfaces) else { return nil }
        self.limit = limit
        // Watch before listing, so that no change is missed.
        changes = InterfaceLimit.watch()
        guard changes >= 0 else { throw SystemError(errno) }
    }

    deinit { close(changes) }

    /// Applies the limit to a socket that does not listen yet.
    func hold(for socket: Socket) throws(SystemError) {
        let code = limit.apply(to: socket.descriptor)
        guard code == 0 else { throw SystemError(code) }
    }

    /// Looks at the interfaces again.
    func refresh(_ sockets: [Socket]) {
        var buffer = [UInt8](repeating: 0, count: 8192)
        while unsafe read(changes, &buffer, buffer.count) > 0 {}
        for socket in sockets { _ = limit.apply(to: socket.descriptor) }
    }

    /// Whether an accepted connection is allowed.
    func admits(_ connection: Socket) -> Bool { limit.admits(connection.descriptor) }
}
#endif
