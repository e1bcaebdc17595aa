#if Commands
internal import DNSSD
internal import Glibc
internal import System

/// The interfaces that listening sockets are bound to, also those that come later.
final class InterfaceBounds: Sendable {
    /// Readable when interfaces have changed: `refresh` then.
    let changes: Int32
    private let limit: InterfaceLimit

    /// Nil where every interface is meant.
    init?(_ interfaces: InterfaceFilter) throws(SystemError) {
        guard let limit = InterfaceLimit(interfaces) else { return nil }
        self.limit = limit
        // Before it is looked which there are: no change is missed.
        changes = InterfaceLimit.watch()
        guard changes >= 0 else { throw SystemError(errno) }
    }

    deinit { close(changes) }

    /// Holds for a socket that does not listen yet.
    func hold(for socket: Socket) throws(SystemError) {
        let code = limit.apply(to: socket.descriptor)
        guard code == 0 else { throw SystemError(code) }
    }

    /// Looks again which interfaces there are.
    func refresh(_ sockets: [Socket]) {
        var buffer = [UInt8](repeating: 0, count: 8192)
        while unsafe read(changes, &buffer, buffer.count) > 0 {}
        for socket in sockets { _ = limit.apply(to: socket.descriptor) }
    }

    /// Whether a connection that was accepted is meant.
    func admits(_ connection: Socket) -> Bool { limit.admits(connection.descriptor) }
}
#endif
