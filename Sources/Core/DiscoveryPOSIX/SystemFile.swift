import Libc

/// Reads and replaces small files, and lists directories.
package enum SystemFile {
    /// Reads a regular file. Never waits for a pipe's writer.
    /// - Throws: `EINVAL` for anything but a regular file, `EFBIG` for a longer one.
    package static func read(
        _ path: String, atMost limit: Int, followingLinks: Bool = true
    ) throws(SystemError) -> [UInt8] {
        try read(path, atMost: limit, followingLinks: followingLinks, withoutModes: 0)
    }

    /// The same of a file that holds a secret.
    /// - Throws: `EPERM` also where others than its owner and its group may read or write it.
    package static func readPrivate(_ path: String, atMost limit: Int) throws(SystemError) -> [UInt8] {
        try read(path, atMost: limit, withoutModes: 0o007)
    }

    /// The same of a file whose secret is one person's.
    /// - Throws: `EPERM` also where it is another's than this user's or root's, or others may read or write it.
    package static func readSecret(_ path: String, atMost limit: Int) throws(SystemError) -> [UInt8] {
        try read(path, atMost: limit, withoutModes: 0o077, ownedByUs: true)
    }

    /// The same of a file whose content is believed.
    /// - Throws: `EPERM` also if its owner is neither this user nor root, or others may write it.
    package static func readTrusted(_ path: String, atMost limit: Int) throws(SystemError) -> [UInt8] {
        try read(path, atMost: limit, withoutModes: 0o022, ownedByUs: true)
    }

    /// Whether the path itself is a symbolic link, wherever that leads.
    package static func isLink(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    private static func read(
        _ path: String, atMost limit: Int, followingLinks: Bool = true, withoutModes modes: mode_t,
        ownedByUs: Bool = false
    ) throws(SystemError) -> [UInt8] {
        let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | (followingLinks ? 0 : O_NOFOLLOW)
        let descriptor = unsafe open(path, flags)
        guard descriptor >= 0 else { throw SystemError(errno, path) }
        defer { close(descriptor) }
        try requireRegular(descriptor, path)
        var info = stat()
        guard unsafe fstat(descriptor, &info) == 0 else { throw SystemError(errno, path) }
        let isOurs = !ownedByUs || info.st_uid == geteuid() || info.st_uid == 0
        guard info.st_mode & modes == 0, isOurs else { throw SystemError(EPERM, path) }
        let bytes = try start(of: descriptor, path, atMost: limit + 1)
        guard bytes.count <= limit else { throw SystemError(EFBIG, path) }
        return bytes
    }

    /// The beginning of a file as text; nil if it cannot be read.
    package static func text(of path: String, atMost limit: Int = 4 << 20) -> String? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return (try? start(of: descriptor, path, atMost: limit)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The same, split into lines.
    package static func lines(of path: String) -> [String]? {
        guard let text = text(of: path) else { return nil }
        return text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false).map { String(Substring($0)) }
    }

    private static func start(
        of descriptor: Int32, _ path: String, atMost limit: Int
    ) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while bytes.count < limit {
            let count = unsafe Libc.read(descriptor, &buffer, min(buffer.count, limit - bytes.count))
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw SystemError(errno, path) }
            if count == 0 { break }
            bytes += buffer[..<count]
        }
        return bytes
    }

    /// - Throws: `EINVAL` for anything but a regular file.
    package static func requireRegular(_ descriptor: Int32, _ path: String) throws(SystemError) {
        var info = stat()
        guard unsafe fstat(descriptor, &info) == 0 else { throw SystemError(errno, path) }
        guard info.st_mode & S_IFMT == S_IFREG else { throw SystemError(EINVAL, "\(path) is no regular file") }
    }

    /// Writes a temporary file readable only by its owner, syncs it, renames it, and syncs the directory: after a power
    /// cut either the old file or the new one is there.
    package static func replace(_ path: String, with bytes: [UInt8]) throws(SystemError) {
        try replace(path, with: bytes, as: nil)
    }

    /// The same of a file that another owner and mode stay with, and of the one that a link leads to.
    package static func rewrite(_ path: String, with bytes: [UInt8]) throws(SystemError) {
        let path = real(path) ?? path
        var info = stat()
        guard unsafe stat(path, &info) == 0 else { throw SystemError(errno, path) }
        try replace(path, with: bytes, as: info)
    }

    private static func replace(_ path: String, with bytes: [UInt8], as owned: stat?) throws(SystemError) {
        let new = "\(path).new"
        // Never writes to what another process left there, such as a pipe.
        _ = unsafe unlink(new)
        try write(bytes, to: new)
        let isOwned =
            owned.map { unsafe chown(new, $0.st_uid, $0.st_gid) == 0 && chmod(new, $0.st_mode & 0o7777) == 0 } ?? true
        guard isOwned, unsafe rename(new, path) == 0 else {
            let code = errno
            _ = unsafe unlink(new)
            throw SystemError(code, path)
        }
        syncDirectory(of: path)
    }

    /// Looks whether a file can be made: nothing is there, not even a link, and its directory can be written.
    /// - Throws: `EEXIST` where something is.
    package static func requireAbsent(_ path: String) throws(SystemError) {
        var info = stat()
        if unsafe lstat(path, &info) == 0 { throw SystemError(EEXIST, path) }
        guard errno == ENOENT, unsafe access(directory(of: path), W_OK | X_OK) == 0 else {
            throw SystemError(errno, path)
        }
    }

    /// The same of a file that is not there.
    /// - Throws: `EEXIST` where it is.
    package static func create(_ path: String, with bytes: [UInt8]) throws(SystemError) {
        let new = "\(path).\(UInt64.random(in: .min ... .max)).new"
        try write(bytes, to: new)
        let code = unsafe Libc.link(new, path) == 0 ? 0 : errno
        _ = unsafe unlink(new)
        guard code == 0 else { throw SystemError(code, path) }
        syncDirectory(of: path)
    }

    /// Makes a directory with all above it, for their owner only (XDG Base Directory Specification).
    /// - Returns: why there is none.
    package static func makeDirectory(_ path: String) -> SystemError? {
        var (made, failure) = ("", Int32(0))
        for part in path.split(separator: "/") {
            made += "/\(part)"
            if makeOne(made, 0o700) != 0, errno != EEXIST { failure = failure == 0 ? errno : failure }
        }
        var info = stat()
        guard unsafe stat(path, &info) == 0 else { return SystemError(failure == 0 ? errno : failure, path) }
        return info.st_mode & S_IFMT == S_IFDIR ? nil : SystemError(ENOTDIR, path)
    }

    /// Writes and syncs a new file for its owner only; leaves nothing where that fails.
    private static func write(_ bytes: [UInt8], to new: String) throws(SystemError) {
        let descriptor = unsafe open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw SystemError(errno, new) }
        do throws(SystemError) {
            defer { close(descriptor) }
            // Regardless of the umask.
            guard fchmod(descriptor, 0o600) == 0 else { throw SystemError(errno, new) }
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = unsafe rest.withUnsafeBytes { unsafe Libc.write(descriptor, $0.baseAddress, $0.count) }
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
    }

    private static func directory(of path: String) -> String {
        let directory = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        return directory.isEmpty ? "/" : directory
    }

    private static func syncDirectory(of path: String) {
        let handle = unsafe open(directory(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard handle >= 0 else { return }
        fsync(handle)
        close(handle)
    }

    /// Takes an exclusive lock, which the kernel releases however a process ends (flock(2)). A program being started
    /// holds a copy of the descriptor until its `exec`; this briefly waits for that.
    /// - Returns: 0, or an `errno`: EWOULDBLOCK if another process holds the lock.
    package static func lock(_ descriptor: Int32) -> Int32 {
        for _ in 0..<10 {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return 0 }
            guard errno == EWOULDBLOCK else { return errno }
            usleep(20_000)
        }
        return EWOULDBLOCK
    }
}

// What is made has its mode whatever the umask, which may take everything away.

extension SystemFile {
    /// Opens a file to lock, to read and to write; where there is none, makes one for its owner only. Follows no link, and waits for no one.
    /// - Parameter directory: the directory that a relative path is in.
    /// - Returns: as open(2).
    package static func openOwn(_ path: String, in directory: Int32? = nil) -> Int32 {
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        let file = unsafe openat(directory ?? AT_FDCWD, path, flags, 0o600)
        var info = stat()
        if file >= 0, unsafe fstat(file, &info) == 0, info.st_mode & 0o600 != 0o600 { fchmod(file, 0o600) }
        return file
    }

    /// Makes one directory.
    /// - Returns: as mkdir(2).
    package static func makeOne(_ path: String, _ mode: UInt32) -> Int32 {
        let mode = mode_t(truncatingIfNeeded: mode)
        guard unsafe mkdir(path, mode) == 0 else { return -1 }
        return unsafe chmod(path, mode)
    }
}

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
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink(path, &buffer, buffer.count)
        return count > 0 ? String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
    }

    /// The path without symbolic links; nil if it does not exist.
    package static func real(_ path: String) -> String? {
        guard let resolved = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }
}

/// An `errno` and the operation that failed.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    package let code: Int32
    package let what: String?

    package init(_ code: Int32, _ what: String? = nil) {
        self.code = code
        self.what = what
    }

    /// The system's text for an `errno`.
    package static func text(_ code: Int32) -> String {
        unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
    }

    package var description: String { (what.map { "\($0): " } ?? "") + Self.text(code) }
}
