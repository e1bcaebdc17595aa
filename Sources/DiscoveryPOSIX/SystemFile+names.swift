import Libc

extension SystemFile {
    /// At most `limit` wanted names in a directory, without `.` and `..`.
    package static func names(
        in path: String, atMost limit: Int = .max, where isWanted: (String) -> Bool = { _ in true }
    ) throws(SystemError) -> [String] {
        guard let directory = unsafe opendir(path) else { throw SystemError(errno, path) }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while names.count < limit, let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != "..", isWanted(name) { names.append(name) }
        }
        return names
    }

    /// Whether a directory is this user's or root's, and no one else may change what is in it; nil where it is not there.
    package static func isTrusted(directory path: String) throws(SystemError) -> Bool? {
        var info = stat()
        guard unsafe stat(path, &info) == 0 else {
            if errno == ENOENT { return nil }
            throw SystemError(errno, path)
        }
        return (info.st_uid == 0 || info.st_uid == geteuid()) && info.st_mode & 0o022 == 0
    }

    /// The target of a symbolic link.
    package static func link(_ path: String) -> String? {
        var buffer = [CChar](repeating: 0, count: 256)
        let count = unsafe readlink(path, &buffer, buffer.count)
        return count > 0 ? String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
    }

    /// The path without symbolic links; nil if it does not exist.
    package static func real(_ path: String) -> String? {
        guard let resolved = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }

    /// Finds a program in $PATH or where daemons are installed, because an ordinary user's PATH lacks sbin.
    package static func program(_ name: String) -> String? {
        let path = Environment.value("PATH")?.split(separator: ":").map(String.init) ?? []
        return (path + ["/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/bin", "/bin"]).lazy
            .filter { $0.hasPrefix("/") }.map { "\($0)/\(name)" }.first { unsafe access($0, X_OK) == 0 }
    }
}
