import AppSupport
import CLinux
import Glibc
import Synchronization

/// A file that is being received: under a name of its own until it is complete, so that nobody ever sees half of it.
public final class IncomingFile: Sendable {
    private struct State {
        var checksum = Checksum()
        var isOver = false
        var count: Int64 = 0
        var finalName: RelativePath?
    }

    private let folder: Descriptor
    private let file: Descriptor
    private let temporary: [UInt8]
    private let path: RelativePath
    private let state = Mutex(State())

    /// How many bytes are here.
    public var count: Int64 { state.withLock { $0.count } }
    /// Where it is, once it is complete: another name when there was a file of this one.
    public var finalName: RelativePath? { state.withLock { $0.finalName } }

    /// Begins a file that nobody can go on with later.
    public convenience init(in target: TargetFolder, path: RelativePath) throws(FileFailure) {
        var random = SystemRandomNumberGenerator()
        let mark = String(random.next() as UInt64, radix: 36)
        try self.init(target, path, ".filedrop-\(mark).new", O_EXCL)
    }

    /// Begins a file, or goes on with what an earlier attempt left of the same one.
    public convenience init(in target: TargetFolder, resuming entry: Entry) throws(FileFailure) {
        var identity = Checksum()
        identity.update(entry.identity)
        let mark = Checksum.text(Array(identity.digest.prefix(12)))
        try self.init(target, entry.path, ".filedrop-\(mark).part", 0)
        // Two senders of one file would write into each other's.
        guard flock(file.number, LOCK_EX | LOCK_NB) == 0 else {
            keep()
            throw FileFailure(.other, AppError(.ioError, "\(path.text) is being received already"))
        }
        try takeUp(upTo: entry.size)
    }

    private init(_ target: TargetFolder, _ path: RelativePath, _ name: String, _ flags: Int32) throws(FileFailure) {
        folder = try target.parent(of: path)
        temporary = Array(name.utf8)
        self.path = path
        let number = openat(folder.number, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | flags, 0o600)
        guard number >= 0 else { throw FileFailure.writing(path.text, errno: errno) }
        file = Descriptor(number)
        guard let status = file.status, status.isFile, status.st_nlink == 1 else {
            throw FileFailure.writing(path.text, errno: EPERM)
        }
    }

    deinit { if state.withLock({ !$0.isOver }) { discard() } }

    /// The SHA-256 of what is here.
    public var digest: [UInt8] { state.withLock { $0.checksum.digest } }

    /// Adds bytes.
    public func append(_ bytes: [UInt8]) throws(FileFailure) {
        try state.withLock { state throws(FileFailure) in
            if let code = file.write(bytes[...]) { throw FileFailure.writing(path.text, errno: code) }
            state.checksum.update(bytes)
            state.count += Int64(bytes.count)
        }
    }

    /// Begins again.
    public func restart() throws(FileFailure) {
        try state.withLock { state throws(FileFailure) in
            guard ftruncate(file.number, 0) == 0, lseek(file.number, 0, SEEK_SET) == 0 else {
                throw FileFailure.writing(path.text, errno: errno)
            }
            state.checksum = Checksum()
            state.count = 0
        }
    }

    /// Puts it in its place: never over another file.
    public func commit(modified: Int64? = nil, isExecutable: Bool = false) throws(FileFailure) {
        if let modified {
            var times = [timespec(tv_sec: Int(modified), tv_nsec: 0), timespec(tv_sec: Int(modified), tv_nsec: 0)]
            _ = futimens(file.number, &times)
        }
        // As a program that creates a file would have it: the umask is the person's word.
        let mask = umask(0)
        umask(mask)
        _ = fchmod(file.number, (isExecutable ? 0o777 : 0o666) & ~mask)
        guard fsync(file.number) == 0 else { throw FileFailure.writing(path.text, errno: errno) }
        for attempt in 1...1000 {
            let name = path.name(attempt: attempt)
            let code = temporary.withCString { from in
                name.withCString { clinux_rename_new(folder.number, from, $0) }
            }
            if code == 0 {
                let final = RelativePath(Array((path.names.dropLast() + [name]).joined(separator: [0x2F]))) ?? path
                state.withLock { state in
                    state.isOver = true
                    state.finalName = final
                }
                return
            }
            guard errno == EEXIST else { throw FileFailure.writing(path.text, errno: errno) }
        }
        throw FileFailure.writing(path.text, errno: EEXIST)
    }

    /// Leaves what is here for a later attempt.
    public func keep() { state.withLock { $0.isOver = true } }

    /// Removes what is here.
    public func discard() {
        keep()
        _ = temporary.withCString { unlinkat(folder.number, $0, 0) }
    }

    private func takeUp(upTo size: Int64) throws(FileFailure) {
        let isAll = try state.withLock { state throws(FileFailure) in
            while state.count < size {
                guard let bytes = file.read(Int(min(size - state.count, 1 << 20))) else {
                    throw FileFailure.writing(path.text, errno: errno)
                }
                guard !bytes.isEmpty else { return false }
                state.checksum.update(bytes)
                state.count += Int64(bytes.count)
            }
            return true
        }
        guard isAll else { return }
        // Longer than the file can be: not what it seems.
        if ftruncate(file.number, off_t(size)) != 0 { try restart() }
    }
}
