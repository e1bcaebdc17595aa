internal import Glibc

/// An `errno`, and what could not be done.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    package let code: Int32
    package let what: String

    package init(_ code: Int32, _ what: String) {
        self.code = code
        self.what = what
    }

    package var description: String {
        let text = unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
        return "\(what): \(text)"
    }
}

/// Small files as a whole.
enum FileBytes {
    /// - Throws: also for anything but a regular file, without waiting for a pipe's writer.
    static func read(_ path: String, atMost limit: Int) throws(SystemError) -> [UInt8] {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { throw SystemError(errno, path) }
        defer { close(descriptor) }
        try requireRegular(descriptor, path)
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0 {
                guard errno == EINTR else { throw SystemError(errno, path) }
                continue
            }
            if count == 0 { return bytes }
            bytes += buffer[..<count]
            guard bytes.count <= limit else { throw SystemError(EFBIG, path) }
        }
    }

    /// - Throws: `EINVAL` for anything but a regular file.
    static func requireRegular(_ descriptor: Int32, _ path: String) throws(SystemError) {
        var info = stat()
        guard unsafe fstat(descriptor, &info) == 0 else { throw SystemError(errno, path) }
        guard info.st_mode & S_IFMT == S_IFREG else { throw SystemError(EINVAL, "\(path) is no regular file") }
    }

    /// Writes beside it, readable to its owner only, syncs, renames, and syncs the directory: after a power cut there is the old file or the new one.
    static func replace(_ path: String, with bytes: [UInt8]) throws(SystemError) {
        let new = "\(path).new"
        // Never write to what another process left there, such as a pipe.
        _ = unsafe unlink(new)
        let descriptor = unsafe open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw SystemError(errno, new) }
        do throws(SystemError) {
            defer { close(descriptor) }
            // Whatever the umask says.
            guard fchmod(descriptor, 0o600) == 0 else { throw SystemError(errno, new) }
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = unsafe rest.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
                if count < 0 {
                    guard errno == EINTR else { throw SystemError(errno, new) }
                    continue
                }
                rest = rest.dropFirst(count)
            }
            guard fsync(descriptor) == 0 else { throw SystemError(errno, new) }
        } catch {
            _ = unsafe unlink(new)
            throw error
        }
        guard unsafe rename(new, path) == 0 else { throw SystemError(errno, path) }
        let directory = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        let handle = unsafe open(directory.isEmpty ? "/" : directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard handle >= 0 else { return }
        fsync(handle)
        close(handle)
    }
}
