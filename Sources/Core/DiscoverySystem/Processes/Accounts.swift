import Libc

/// Users and groups of this machine. Blocks while the name service is queried.
package enum Accounts {
    private static let bufferSize = 65_536

    /// The number of a group; nil if there is no such group or the lookup fails.
    package static func groupID(named name: String) -> UInt32? {
        var entry = unsafe group()
        var found: UnsafeMutablePointer<group>?
        var buffer = [CChar](repeating: 0, count: bufferSize)
        guard unsafe getgrnam_r(name, &entry, &buffer, buffer.count, &found) == 0, unsafe found != nil else {
            return nil
        }
        return unsafe entry.gr_gid
    }

    /// Whether there is a user of a name; true if the lookup fails, which says nothing.
    package static func hasUser(named name: String) -> Bool {
        var entry = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: bufferSize)
        guard unsafe getpwnam_r(name, &entry, &buffer, buffer.count, &found) == 0 else { return true }
        return unsafe found != nil
    }

    /// The name of a user; nil if there is no such user or the lookup fails.
    package static func userName(of uid: UInt32) -> String? {
        unsafe withUser(uid) { unsafe String(cString: $0.pw_name) }
    }

    /// The groups of a user, from the system's group database; empty if there is no such user.
    package static func groups(of uid: UInt32) -> [UInt32] {
        unsafe withUser(uid) { entry -> [UInt32] in
            var count: Int32 = 64
            var groups = [gid_t](repeating: 0, count: Int(count))
            if unsafe getgrouplist(entry.pw_name, entry.pw_gid, &groups, &count) < 0 {
                groups = [gid_t](repeating: 0, count: Int(min(max(count, 0), 65_536)))
                guard unsafe getgrouplist(entry.pw_name, entry.pw_gid, &groups, &count) >= 0 else { return [] }
            }
            return Array(groups.prefix(Int(count)))
        } ?? []
    }

    private static func withUser<Result>(_ uid: UInt32, _ body: (passwd) -> Result) -> Result? {
        var entry = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: bufferSize)
        guard unsafe getpwuid_r(uid, &entry, &buffer, buffer.count, &found) == 0, unsafe found != nil else {
            return nil
        }
        // The entry's strings live in `buffer`.
        return withExtendedLifetime(buffer) { unsafe body(entry) }
    }
}
