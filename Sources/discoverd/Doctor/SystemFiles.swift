#if Commands
internal import Glibc

/// Small files and directories of `/proc`, `/sys` and `/etc`.
enum SystemFiles {
    /// The lines of a file; nil when it cannot be read. A file is read up to `limit` bytes.
    static func lines(_ path: String, limit: Int = 4 << 20) -> [String]? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16384)
        while bytes.count < limit {
            let count = unsafe chunk.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
            if count < 0 { return nil }
            if count == 0 { break }
            bytes += chunk.prefix(count)
        }
        return bytes.split(separator: 0x0A, omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    /// The names in a directory, without those that begin with a dot; empty when it cannot be read.
    static func names(in path: String) -> [String] {
        guard let directory = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { start in
                unsafe start.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }

    /// Where a symbolic link points; nil when it cannot be read.
    static func target(of link: String) -> String? {
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = unsafe bytes.withUnsafeMutableBytes { buffer in
            guard let start = unsafe buffer.assumingMemoryBound(to: CChar.self).baseAddress else { return -1 }
            return unsafe readlink(link, start, buffer.count)
        }
        return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
    }
}
#endif
