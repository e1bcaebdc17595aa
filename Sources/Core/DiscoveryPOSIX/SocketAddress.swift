package import DNSSD
package import Libc

/// A socket address for system calls.
package struct SocketAddress: Sendable {
    private var storage = sockaddr_storage()
    package var length: socklen_t

    /// AF_INET, AF_INET6, AF_UNIX …; AF_UNSPEC if there is none.
    package var family: Int32 { Int32(storage.ss_family) }

    /// - Parameter port: 0 lets the system choose.
    package init(_ address: IPAddress, port: UInt16) {
        switch address {
        case .v4(let v4):
            var value = sockaddr_in()
            value.sin_family = sa_family_t(AF_INET)
            value.sin_port = port.bigEndian
            value.sin_addr.s_addr = v4.bits.bigEndian
            self.init(bytesOf: value)
        case .v6(let v6, let scope):
            var value = sockaddr_in6()
            value.sin6_family = sa_family_t(AF_INET6)
            value.sin6_port = port.bigEndian
            value.sin6_scope_id = scope
            unsafe withUnsafeMutableBytes(of: &value.sin6_addr) { unsafe $0.copyBytes(from: v6.bytes) }
            self.init(bytesOf: value)
        }
    }

    /// Copies a C address, for example from getifaddrs(3); nil for families other than Internet.
    package init?(copying pointer: UnsafePointer<sockaddr>?) {
        guard let pointer = unsafe pointer else { return nil }
        let raw = unsafe UnsafeRawPointer(pointer)
        switch unsafe Int32(pointer.pointee.sa_family) {
        case AF_INET: unsafe self.init(bytesOf: raw.loadUnaligned(as: sockaddr_in.self))
        case AF_INET6: unsafe self.init(bytesOf: raw.loadUnaligned(as: sockaddr_in6.self))
        default: return nil
        }
    }

    /// Lets a system call such as getsockname(2) or recvfrom(2) fill it in; nil if `fill` returns false.
    package init?(filledBy fill: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Bool) {
        length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        var length = length
        let isFilled = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe fill($0, &length) }
        }
        guard isFilled else { return nil }
        self.length = min(length, self.length)
    }

    /// The address that a socket is bound to.
    package init?(of socket: Int32) {
        unsafe self.init(filledBy: { unsafe getsockname(socket, $0, $1) == 0 })
    }

    /// Copies a structure of the C library.
    package init<Value>(bytesOf value: Value) {
        length = socklen_t(MemoryLayout<Value>.size)
        unsafe withUnsafeBytes(of: value) { bytes in
            unsafe withUnsafeMutableBytes(of: &storage) { unsafe $0.copyMemory(from: bytes) }
        }
    }

    /// The Internet address, if it is one; with the scope that the system gave.
    package var address: IPAddress? {
        unsafe withUnsafeBytes(of: storage) { bytes in
            switch family {
            case AF_INET:
                let v4 = unsafe bytes.load(as: sockaddr_in.self)
                return .v4(IPv4Address(bits: UInt32(bigEndian: v4.sin_addr.s_addr)))
            case AF_INET6:
                let v6 = unsafe bytes.load(as: sockaddr_in6.self)
                let parts = unsafe withUnsafeBytes(of: v6.sin6_addr) { unsafe Array($0) }
                return IPv6Address(bytes: parts).map { .v6($0, scope: v6.sin6_scope_id) }
            default: return nil
            }
        }
    }

    /// The port of an Internet address.
    package var port: UInt16? {
        guard family == AF_INET || family == AF_INET6 else { return nil }
        // At the same offset in both families (bytes 2 and 3).
        return unsafe withUnsafeBytes(of: storage) {
            unsafe UInt16(bigEndian: $0.load(fromByteOffset: 2, as: UInt16.self))
        }
    }

    /// connect(2): 0, or -1 and `errno`.
    package func connect(_ socket: Int32) -> Int32 { unsafe withPointer { unsafe Libc.connect(socket, $0, $1) } }

    /// bind(2): 0, or -1 and `errno`.
    package func bind(_ socket: Int32) -> Int32 { unsafe withPointer { unsafe Libc.bind(socket, $0, $1) } }

    /// For any other system call.
    package func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        unsafe withUnsafePointer(to: storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, length) }
        }
    }
}

/// An address of an interface, or the interface itself (getifaddrs(3)).
package struct InterfaceAddress: Sendable {
    package let interface: NetworkInterface
    /// IFF_UP and its like (netdevice(7)).
    package let flags: Int32
    /// Scoped to the interface if it is link-local; nil if it is not an Internet address.
    package let address: IPAddress?
    package let netmask: IPAddress?

    package func has(_ flags: some BinaryInteger) -> Bool { self.flags & Int32(truncatingIfNeeded: flags) != 0 }

    /// All addresses of this machine, in the system's order; nil if the system does not list them.
    package static func all() -> [InterfaceAddress]? {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard unsafe getifaddrs(&list) == 0 else { return nil }
        defer { unsafe freeifaddrs(list) }
        var found: [InterfaceAddress] = []
        var indexes: [String: UInt32] = [:]
        var next = unsafe list
        while let item = unsafe next?.pointee {
            unsafe next = item.ifa_next
            let name = unsafe device(ofLabel: String(cString: item.ifa_name))
            let index = unsafe indexes[name] ?? if_nametoindex(name)
            indexes[name] = index
            // The interface has gone meanwhile.
            guard index > 0 else { continue }
            unsafe found.append(
                InterfaceAddress(
                    interface: NetworkInterface(index: index, name: name), flags: Int32(bitPattern: item.ifa_flags),
                    address: address(item.ifa_addr, index), netmask: address(item.ifa_netmask, index)))
        }
        return found
    }

    /// The device of an address: an IPv4 address may have a label of its own, `eth0:1`, which getifaddrs(3) gives in the place of the device's
    /// name. A device's name has no colon (dev_valid_name in the kernel).
    package static func device(ofLabel label: String) -> String {
        String(Substring(label.utf8.prefix { $0 != UInt8(ascii: ":") }))
    }

    private static func address(_ pointer: UnsafeMutablePointer<sockaddr>?, _ index: UInt32) -> IPAddress? {
        switch unsafe SocketAddress(copying: pointer)?.address {
        case .v6(let address, _): .v6(address, scope: address.isLinkLocal ? index : 0)
        case let other: other
        }
    }
}
