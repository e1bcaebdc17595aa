import Libc

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
