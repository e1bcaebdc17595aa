internal import CKernel
package import DNSSD
internal import Glibc

/// Keeps away from a listening socket, in the kernel, what comes by other interfaces than those that are meant: who connects by
/// another gets no answer at all.
///
/// What counts is the interface, whatever the address: Linux answers on each for the addresses of all, and addresses come and go.
/// Loopback always passes, because this machine's own connections come by it; `admits` asks for which address they are.
package struct InterfaceLimit: Sendable {
    private let interfaces: InterfaceFilter

    /// Nil where every interface is meant.
    package init?(_ interfaces: InterfaceFilter) {
        guard interfaces != .all else { return nil }
        self.interfaces = interfaces
    }

    /// Holds for a socket that does not listen yet; again after each change that `watch` tells.
    /// - Returns: 0, or why it cannot be done, as in `errno`.
    package func apply(to listener: Int32) -> Int32 {
        let names = SystemInterfaces.namesByIndex()
        // There is one at least, or the system does not tell.
        guard !names.isEmpty else { return ENODEV }
        let indexes = names.filter { interfaces.allows($0.value) }.map { UInt32(bitPattern: $0.key) }
        return unsafe ckernel_take_only(listener, indexes, Int32(clamping: indexes.count)) == 0 ? 0 : errno
    }

    /// Whether a connection that was accepted is meant. It keeps nothing of the limit: it goes on, whatever its interface is called.
    package func admits(_ connection: Int32) -> Bool {
        ckernel_take_all(connection)
        var name = [CChar](repeating: 0, count: 16)
        guard unsafe ckernel_arrival(connection, &name) == 0 else { return false }
        return interfaces.allows(String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }

    /// A descriptor that is readable when interfaces have changed; it does not block, and nothing that it says matters. The
    /// caller's to close.
    /// - Returns: -1, with `errno`, where there is none.
    package static func watch() -> Int32 { ckernel_watch_interfaces() }
}
