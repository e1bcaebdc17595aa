package import DiscoveryPOSIX
import Libc

/// Unix and netlink sockets.
extension SocketAddress {
    /// A Unix socket (unix(7)); a leading 0 byte makes an abstract name. Nil if it is empty or too long.
    package init?(unix path: [UInt8]) {
        var value = sockaddr_un()
        value.sun_family = sa_family_t(AF_UNIX)
        let isAbstract = path.first == 0
        // A path includes its final 0; an abstract name does not have one.
        guard !path.isEmpty, isAbstract || !path.contains(0),
            path.count < MemoryLayout.size(ofValue: value.sun_path) + (isAbstract ? 1 : 0)
        else { return nil }
        unsafe withUnsafeMutableBytes(of: &value.sun_path) { unsafe $0.copyBytes(from: path) }
        self.init(bytesOf: value)
        if isAbstract { length = socklen_t(MemoryLayout<sa_family_t>.size + path.count) }
    }

    /// A Unix socket by its printed name: `/path`, or `@name` for an abstract one.
    package init?(unixName name: String) {
        let isAbstract = name.hasPrefix("@")
        guard isAbstract ? name.utf8.count > 1 : name.hasPrefix("/"), !name.utf8.contains(0) else { return nil }
        self.init(unix: isAbstract ? [0] + Array(name.utf8.dropFirst()) : Array(name.utf8))
    }

    /// Netlink multicast groups (netlink(7)).
    package init(netlinkGroups groups: UInt32) {
        // sockaddr_nl, which Glibc's module lacks: family, padding, port, groups.
        self.init(bytesOf: (UInt16(AF_NETLINK), UInt16(0), UInt32(0), groups))
    }

    /// The name of a Unix socket, as `init(unixName:)` takes it; empty if it has none.
    package var unixName: String? {
        guard family == AF_UNIX else { return nil }
        return unsafe withPointer { pointer, length in
            let bytes = unsafe UnsafeRawBufferPointer(start: pointer, count: Int(length))
            let path = unsafe bytes.dropFirst(MemoryLayout<sa_family_t>.size)
            let isAbstract = unsafe path.first == 0
            let name = unsafe isAbstract ? Array(path.dropFirst()) : Array(path.prefix { $0 != 0 })
            return (isAbstract ? "@" : "") + String(decoding: name, as: UTF8.self)
        }
    }
}
