internal import CLinux
package import DNSSD
internal import Libc

/// Makes the kernel drop what reaches a listening socket through other interfaces: a client there gets no answer at
/// all.
///
/// The interface counts, not the address: Linux accepts packets for any local address on every interface, and addresses
/// come and go. Loopback always passes, because it carries this machine's own connections; `admits` checks the address
/// that they use.
package struct InterfaceLimit: Sendable {
    private let interfaces: InterfaceFilter

    /// Nil if every interface is allowed.
    package init?(_ interfaces: InterfaceFilter) {
        guard interfaces != .all else { return nil }
        self.interfaces = interfaces
    }

    /// Applies the limit to a socket that does not listen yet. Apply it again after each change that `watch` reports.
    /// - Returns: 0 or an `errno`.
    package func apply(to listener: Int32) -> Int32 {
        let names = SystemInterfaces.namesByIndex()
        // Every machine has an interface: none means that the system does not tell.
        guard !names.isEmpty else { return ENODEV }
        let indexes = names.filter { interfaces.allows($0.value) }.map { UInt32(bitPattern: $0.key) }
        return unsafe ckernel_take_only(listener, indexes, Int32(clamping: indexes.count)) == 0 ? 0 : errno
    }

    /// Whether to keep an accepted connection. Also lifts the limit from it: it survives a rename of its interface.
    package func admits(_ connection: Int32) -> Bool {
        ckernel_take_all(connection)
        var name = [CChar](repeating: 0, count: 16)
        guard unsafe ckernel_arrival(connection, &name) == 0 else { return false }
        return interfaces.allows(String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }

    /// A non-blocking descriptor that becomes readable when interfaces change; ignore what it reads. The caller closes
    /// it.
    /// - Returns: -1 with `errno` on failure.
    package static func watch() -> Int32 { ckernel_watch_interfaces(false) }

    /// The same for interfaces, addresses and routes.
    package static func watchAll() -> Int32 { ckernel_watch_interfaces(true) }
}
