internal import Glibc

/// Users and groups of this machine. Blocks while the name service looks them up.
public enum Accounts {
    private static let bufferSize = 65_536

    /// The number of a group; nil when there is none of that name, or it cannot be looked up.
    public static func groupID(named name: String) -> UInt32? {
        unsafe withBuffer { buffer, size in
            var entry = unsafe group()
            var found: UnsafeMutablePointer<group>?
            guard unsafe getgrnam_r(name, &entry, buffer, size, &found) == 0, let found = unsafe found else {
                return nil
            }
            return unsafe found.pointee.gr_gid
        }
    }

    /// The name of a user; nil when there is none with that number, or it cannot be looked up.
    public static func userName(of uid: UInt32) -> String? {
        unsafe withBuffer { buffer, size in
            var entry = unsafe passwd()
            var found: UnsafeMutablePointer<passwd>?
            guard unsafe getpwuid_r(uid, &entry, buffer, size, &found) == 0, let found = unsafe found else {
                return nil
            }
            return unsafe String(validatingCString: found.pointee.pw_name)
        }
    }

    private static func withBuffer<Result>(_ body: (UnsafeMutablePointer<CChar>, Int) -> Result?) -> Result? {
        let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: bufferSize)
        defer { unsafe buffer.deallocate() }
        return unsafe body(buffer, bufferSize)
    }
}
