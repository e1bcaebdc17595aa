import Glibc

/// Small files of the system. What cannot be read is empty.
enum SystemFile {
    /// The first bytes of a file as text.
    static func text(of path: String, atMost limit: Int = 4 << 20) -> String {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while bytes.count < limit {
            let count = unsafe read(file, &buffer, min(buffer.count, limit - bytes.count))
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The names in a directory, without `.` and `..`.
    static func names(in path: String) -> [String] {
        guard let directory = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Where a symbolic link points to.
    static func link(_ path: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = unsafe buffer.withUnsafeMutableBytes { bytes in
            unsafe bytes.baseAddress.map { unsafe readlink(path, $0.assumingMemoryBound(to: CChar.self), bytes.count) }
                ?? -1
        }
        return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }

    /// The path without symbolic links, if it is there.
    static func real(_ path: String) -> String? {
        guard let resolved = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }

    /// A program in $PATH or where daemons are, for an ordinary user's PATH lacks sbin.
    static func program(_ name: String) -> String? {
        let path = environment("PATH")?.split(separator: ":").map(String.init) ?? []
        return (path + ["/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/bin", "/bin"]).lazy
            .filter { $0.hasPrefix("/") }.map { "\($0)/\(name)" }.first { unsafe access($0, X_OK) == 0 }
    }

    /// A variable of the environment, if it is set and not empty.
    static func environment(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        let text = unsafe String(cString: value)
        return text.isEmpty ? nil : text
    }
}
