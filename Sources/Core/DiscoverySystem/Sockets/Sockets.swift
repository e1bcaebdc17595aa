// Compiled with all files at once, as a release is, the constants of <sys/socket.h> are of the first module whose headers have them.
internal import CLinux
package import DNSSD
package import DiscoveryPOSIX
internal import Libc

/// Sockets as descriptors: close-on-exec, and closed by their owner.
package enum Sockets {
    /// A socket's type (socket(2)).
    package enum Kind {
        case stream, datagram, raw

        fileprivate var number: UInt32 {
            switch self {
            case .stream: SOCK_STREAM.rawValue
            case .datagram: SOCK_DGRAM.rawValue
            case .raw: SOCK_RAW.rawValue
            }
        }
    }

    /// Creates an unconnected socket.
    package static func make(
        _ family: Int32, _ kind: Kind = .stream, waits: Bool = false
    ) throws(SystemError) -> Int32 {
        let flags = kind.number | SOCK_CLOEXEC.rawValue | (waits ? 0 : SOCK_NONBLOCK.rawValue)
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

    /// How often to call `followWindow`.
    package static let windowPeriod = Duration.seconds(5)

    /// Has a TCP connection end where what was sent is not acknowledged for 25 s: the other host is gone. A slow reader is waited for, however long it
    /// takes nothing.
    package static func followWindow(of connection: Int32) { ckernel_follow_window(connection, 25_000) }

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

    /// Who is at the other end of a Unix socket (SO_PEERCRED, unix(7)); nil with an `errno` where the system does not say it.
    package static func peer(of socket: Int32) -> (process: Int32, user: UInt32, group: UInt32)? {
        // `struct ucred` of <sys/socket.h>, which Glibc's module shows to GNU sources only: pid, uid, gid.
        var credentials: (process: Int32, user: UInt32, group: UInt32) = (0, .max, .max)
        var size = socklen_t(MemoryLayout.size(ofValue: credentials))
        return unsafe getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0 ? credentials : nil
    }

    /// The result of a connection attempt: 0 or an `errno`.
    package static func pendingError(of socket: Int32) -> Int32 { option(SO_ERROR, of: socket) ?? errno }
}

/// A socket bound to a port, as listed by /proc/net/tcp, udp and their IPv6 counterparts (proc_pid_net(5)).
package struct BoundSocket: Hashable, Sendable {
    package let family: IPAddress.Family
    package let port: UInt16
    /// As in <net/tcp_states.h>: 10 for a listening TCP socket, 7 for an unconnected UDP socket.
    package let state: UInt8
    /// The user that opened it.
    package let user: UInt32
    /// The inode that links in /proc/PID/fd name: `socket:[INODE]`.
    package let inode: UInt64
    /// Bound to a multicast group: it receives what is sent to the group, and nothing sent to this machine alone.
    package let isOfGroup: Bool

    /// Of a UDP socket: it receives what anyone sends to this machine alone. A connected one has that of its peer, and nothing else.
    package var hearsAnyone: Bool { state == 7 && !isOfGroup }

    /// The largest list that is read: some 50000 sockets.
    private static let maximumSize = 8 << 20

    /// The sockets of the calling thread's network namespace; nil if the system does not list them.
    package static func all(_ transport: ServiceType.Transport) -> [BoundSocket]? {
        let name = transport == .tcp ? "tcp" : "udp"
        var found: [BoundSocket]?
        for (path, family) in [(name, IPAddress.Family.ipv4), ("\(name)6", .ipv6)] {
            guard let list = try? SystemFile.read("/proc/thread-self/net/\(path)", atMost: maximumSize) else {
                continue
            }
            found = (found ?? []) + all(in: list, family: family)
        }
        return found
    }

    /// Parses a list; skips malformed lines.
    package static func all(in list: [UInt8], family: IPAddress.Family) -> [BoundSocket] {
        list.split(separator: UInt8(ascii: "\n")).dropFirst().compactMap { BoundSocket(line: $0, family: family) }
    }

    /// `sl local:port remote:port st tx:rx tr:when retrnsmt uid timeout inode …`; addresses, ports and states are
    /// hexadecimal.
    private init?(line: ArraySlice<UInt8>, family: IPAddress.Family) {
        let words = line.split(separator: UInt8(ascii: " "), maxSplits: 10)
        func number<Number: FixedWidthInteger>(_ index: Int, hexadecimal: Bool = true) -> Number? {
            let last = words[index].split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            // An address and a port have two parts; the second is wanted.
            guard last.count == (index == 1 ? 2 : 1), let word = last.last else { return nil }
            return Number(String(decoding: word, as: UTF8.self), radix: hexadecimal ? 16 : 10)
        }
        guard words.count >= 10, let port: UInt16 = number(1), let state: UInt8 = number(3),
            let user: UInt32 = number(7, hexadecimal: false), let inode: UInt64 = number(9, hexadecimal: false)
        else { return nil }
        self.family = family
        isOfGroup = Self.isMulticast(words[1], family)
        (self.port, self.state, self.user, self.inode) = (port, state, user, inode)
    }

    /// Addresses are 32-bit words in hexadecimal, each in network order but printed in host order.
    private static func isMulticast(_ address: ArraySlice<UInt8>, _ family: IPAddress.Family) -> Bool {
        guard let word = UInt32(String(decoding: address.prefix(8), as: UTF8.self), radix: 16) else { return false }
        let first = UInt32(bigEndian: word)
        return family == .ipv4 ? first >> 28 == 0xE : first >> 24 == 0xFF
    }
}

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
