import AppSupport
import CFiles
import CommandFrame
import Glibc
import Synchronization

/// A file being received. It has a temporary name until it is complete, so that no one sees half a file.
public final class IncomingFile: Sendable {
    private struct State {
        var checksum = Checksum()
        var isOver = false
        var count: Int64 = 0
        var finalName: RelativePath?
    }

    private let place: Place
    private let file: Descriptor
    private let temporary: [UInt8]
    private let name: [UInt8]
    private let state: Mutex<State>

    /// How many bytes are here.
    public var count: Int64 { state.withLock { $0.count } }
    /// The final path once the file is complete; the name differs from the offered one if that existed.
    public var finalName: RelativePath? { state.withLock { $0.finalName } }
    /// The path for messages.
    private var text: String { place.path(name).text }

    /// Begins a file that cannot be resumed later.
    public convenience init(in place: Place, name: RelativePath) throws(FileFailure) {
        let mark = String(UInt64.random(in: .min ... .max), radix: 36)
        try self.init(place, name.name, ".filedrop-\(mark).new", O_EXCL)
    }

    /// Begins a file, or continues what an earlier attempt of the same sender left of it.
    public convenience init(
        in place: Place, resuming entry: Entry, of sender: [UInt8]
    ) throws(FileFailure) {
        var identity = Checksum()
        identity.update(sender + entry.bytes)
        let mark = Checksum.text(Array(identity.digest.prefix(12)))
        try self.init(place, entry.path.name, ".filedrop-\(mark).part", 0)
        // Otherwise two senders of the same file would write into one.
        guard flock(file.number, LOCK_EX | LOCK_NB) == 0 else {
            keep()
            throw FileFailure(.other, CommandError(.ioError, "\(text) is being received already"))
        }
        guard let size = file.status?.st_size else { throw FileFailure.writing(text, errno: errno) }
        // Longer than the file can be: not what it claims to be.
        if Int64(size) > entry.size { try restart() } else { state.withLock { $0.count = Int64(size) } }
    }

    private init(_ place: Place, _ name: [UInt8], _ temporary: String, _ flags: Int32) throws(FileFailure) {
        self.place = place
        self.temporary = Array(temporary.utf8)
        self.name = name
        let number = openat(
            place.descriptor.number, temporary, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags, 0o600)
        guard number >= 0 else { throw FileFailure.writing(place.path(name).text, errno: errno) }
        file = Descriptor(number)
        state = Mutex(State())
        guard let status = file.status, status.isFile, status.st_nlink == 1 else {
            state.withLock { $0.isOver = true }
            throw FileFailure.writing(text, errno: EPERM)
        }
    }

    deinit { if state.withLock({ !$0.isOver }) { discard() } }

    /// The SHA-256 of everything written, or found and verified.
    public var digest: [UInt8] { state.withLock { $0.checksum.digest } }

    /// Whether the remains of an earlier attempt have this SHA-256. If so the file continues after them, otherwise it starts again.
    /// - Parameter isWanted: asked after each MiB; returning false ends the comparison.
    public func isSame(as offered: [UInt8], while isWanted: () -> Bool) throws(FileFailure) -> Bool {
        let isSame = try state.withLock { state throws(FileFailure) in
            var (checksum, rest) = (Checksum(), state.count)
            while rest > 0, isWanted() {
                guard let bytes = file.read(Int(min(rest, 1 << 20))), !bytes.isEmpty else {
                    throw FileFailure.writing(text, errno: EIO)
                }
                checksum.update(bytes)
                rest -= Int64(bytes.count)
            }
            state.checksum = checksum
            return rest == 0 && checksum.digest == offered
        }
        if !isSame, isWanted() { try restart() }
        return isSame
    }

    /// Appends bytes.
    public func append(_ bytes: [UInt8]) throws(FileFailure) {
        try state.withLock { state throws(FileFailure) in
            if let code = file.write(bytes[...]) { throw FileFailure.writing(text, errno: code) }
            state.checksum.update(bytes)
            state.count += Int64(bytes.count)
        }
    }

    /// Starts again from an empty file.
    public func restart() throws(FileFailure) {
        try state.withLock { state throws(FileFailure) in
            guard ftruncate(file.number, 0) == 0, lseek(file.number, 0, SEEK_SET) == 0 else {
                throw FileFailure.writing(text, errno: errno)
            }
            state.checksum = Checksum()
            state.count = 0
        }
    }

    /// The process's umask, which can only be read by setting it. Read once, because files are finished on several threads; set meanwhile
    /// to a value that keeps files created by other threads private.
    private static let umask: mode_t = {
        let umask = Glibc.umask(0o077)
        _ = Glibc.umask(umask)
        return umask
    }()

    /// Moves the file to its final place; never overwrites another file.
    public func commit(modified: Int64? = nil, isExecutable: Bool = false) throws(FileFailure) {
        if let modified {
            var times = [timespec(tv_sec: Int(modified), tv_nsec: 0), timespec(tv_sec: Int(modified), tv_nsec: 0)]
            _ = futimens(file.number, &times)
        }
        // The same mode as from a program that creates a file: the umask is the user's wish.
        _ = fchmod(file.number, (isExecutable ? 0o777 : 0o666) & ~Self.umask)
        guard fsync(file.number) == 0 else { throw FileFailure.writing(text, errno: errno) }
        for attempt in 1...1000 {
            let variant = RelativePath.variant(attempt, of: name)
            let code = temporary.withCString { from in
                variant.withCString { cfiles_rename_new(place.descriptor.number, from, $0) }
            }
            if code == 0 {
                return state.withLock { state in
                    state.isOver = true
                    state.finalName = place.path(variant)
                }
            }
            guard errno == EEXIST else { throw FileFailure.writing(text, errno: errno) }
        }
        throw FileFailure.writing(text, errno: EEXIST)
    }

    /// Leaves the remains for a later attempt.
    /// - Returns: the part that was kept.
    @discardableResult
    public func keep() -> KeptPart {
        let size = state.withLock { state in
            state.isOver = true
            return state.count
        }
        return KeptPart(place: place.names, name: temporary, size: size, changed: time(nil))
    }

    /// Removes the remains.
    public func discard() {
        keep()
        _ = temporary.withCString { unlinkat(place.descriptor.number, $0, 0) }
    }
}
