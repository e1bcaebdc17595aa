package import DNSSD
internal import Glibc

/// The other end of a connection.
package struct Peer: Hashable, Sendable {
    /// The user, as the kernel knows it (SO_PEERCRED, unix(7)); nil over TCP, where no user is known.
    package let uid: UInt32?
    package let gid: UInt32
    package let pid: Int32
    /// Where it is, over TCP.
    package let address: IPAddress?

    package init(uid: UInt32?, gid: UInt32 = .max, pid: Int32 = 0, address: IPAddress? = nil) {
        self.uid = uid
        self.gid = gid
        self.pid = pid
        self.address = address
    }

    /// The owner with whose connections this one is counted; all without an address count as one.
    package var owner: ConnectionTable.Owner {
        uid.map { .user($0) } ?? ConnectionTable.Owner(address ?? .v4(IPv4Address(bits: 0)))
    }

    /// The name of the user; nil when the system has none.
    package var userName: String? {
        guard let uid else { return nil }
        return unsafe withPasswd(uid) { unsafe String(cString: $0.pw_name) }
    }

    /// The groups of the user by the system's group database, with the one that the process had when it connected.
    ///
    /// Not those of /proc/PID/status: the process may have ended and its number been given to another meanwhile.
    package var groups: [UInt32] {
        guard let uid else { return [] }
        let listed = unsafe withPasswd(uid) { entry -> [UInt32] in
            var count: Int32 = 64
            var groups = [gid_t](repeating: 0, count: Int(count))
            if unsafe getgrouplist(entry.pw_name, entry.pw_gid, &groups, &count) < 0 {
                groups = [gid_t](repeating: 0, count: Int(min(max(count, 0), 65_536)))
                guard unsafe getgrouplist(entry.pw_name, entry.pw_gid, &groups, &count) >= 0 else { return [] }
            }
            return Array(groups.prefix(Int(count)))
        }
        return [gid] + (listed ?? []).filter { $0 != gid }
    }
}

private func withPasswd<Result>(_ uid: UInt32, _ body: (passwd) -> Result) -> Result? {
    var entry = unsafe passwd()
    var found: UnsafeMutablePointer<passwd>?
    var buffer = [CChar](repeating: 0, count: 16 * 1024)
    guard unsafe getpwuid_r(uid, &entry, &buffer, buffer.count, &found) == 0, unsafe found != nil else { return nil }
    // The strings are in `buffer`.
    return withExtendedLifetime(buffer) { unsafe body(entry) }
}
