internal import Glibc

/// Where a service manager listens for sd_notify(3): a datagram socket, by path or by abstract name.
struct NotifySocket: Sendable, Hashable {
    /// `/run/systemd/notify`, or `@name`.
    let name: String

    /// Nil for an address that is neither absolute nor abstract (as `vsock:`), or too long for `sockaddr_un`.
    init?(_ name: String) {
        guard name.hasPrefix("/") || (name.hasPrefix("@") && name.utf8.count > 1), !name.utf8.contains(0) else {
            return nil
        }
        // A path needs room for its NUL, an abstract name has none (unix(7)).
        guard name.utf8.count <= Self.pathCapacity - (name.hasPrefix("/") ? 1 : 0) else { return nil }
        self.name = name
    }

    /// Sends one datagram; never waits.
    /// - Returns: whether it was taken.
    func send(_ message: String) -> Bool {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        let bytes = Array(message.utf8)
        var (address, length) = Self.address(name)
        let sent = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe sendto(
                    descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT), generic,
                    length)
            }
        }
        return sent == bytes.count
    }

    private static let pathOffset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
    private static let pathCapacity = MemoryLayout<sockaddr_un>.size - pathOffset

    /// An abstract name begins with NUL and is as long as the address says, without a NUL at its end (unix(7)).
    static func address(_ name: String) -> (sockaddr_un, socklen_t) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let isAbstract = name.hasPrefix("@")
        let bytes = isAbstract ? [0] + Array(name.utf8.dropFirst()) : Array(name.utf8)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { path in
            unsafe path.copyBytes(from: bytes.prefix(path.count))
        }
        return (address, socklen_t(pathOffset + bytes.count + (isAbstract ? 0 : 1)))
    }
}
