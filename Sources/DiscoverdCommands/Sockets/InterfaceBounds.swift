#if Commands
internal import DNSSD
internal import Libc
internal import DiscoverySystem

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
