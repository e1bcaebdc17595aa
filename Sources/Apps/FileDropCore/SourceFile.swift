import AppSupport
import Glibc
import Synchronization

/// A file that is sent.
public final class SourceFile: Sendable {
    private struct State {
        var checksum = Checksum()
        var count: Int64 = 0
    }

    private let file: Descriptor
    private let path: String
    /// Its bytes when it was opened; not more are sent, and fewer are an error.
    public let size: Int64
    private let state = Mutex(State())

    /// Opens an ordinary file.
    public init(_ path: String) throws(FileFailure) {
        // O_NONBLOCK: a FIFO that has taken the file's name must not hold us up.
        let number = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard number >= 0 else { throw FileFailure.reading(path, errno: errno) }
        file = Descriptor(number)
        self.path = path
        guard let status = file.status, status.isFile else { throw FileFailure.reading(path, errno: EINVAL) }
        size = Int64(status.st_size)
    }

    /// The next bytes; none at the end.
    /// - Throws: also when the file has become shorter.
    public func read() throws(FileFailure) -> [UInt8] {
        try state.withLock { state throws(FileFailure) in
            guard state.count < size else { return [] }
            guard let bytes = file.read(Int(min(Int64(Message.maximumData), size - state.count))) else {
                throw FileFailure.reading(path, errno: errno)
            }
            guard !bytes.isEmpty else {
                throw FileFailure(.other, AppError(.noInput, "\(path) became shorter while it was sent"))
            }
            state.checksum.update(bytes)
            state.count += Int64(bytes.count)
            return bytes
        }
    }

    /// Whether the file begins with bytes of that SHA-256; then reading goes on after them, else from the start.
    public func skip(_ offset: Int64, digest wanted: [UInt8]) throws(FileFailure) -> Bool {
        try state.withLock { state throws(FileFailure) in
            while offset <= size, state.count < offset {
                let limit = Int(min(Int64(1 << 20), offset - state.count))
                guard let bytes = file.read(limit), !bytes.isEmpty else { break }
                state.checksum.update(bytes)
                state.count += Int64(bytes.count)
            }
            if state.count == offset, state.checksum.digest == wanted { return true }
            guard lseek(file.number, 0, SEEK_SET) == 0 else { throw FileFailure.reading(path, errno: errno) }
            state = State()
            return false
        }
    }

    /// The SHA-256 of what was read.
    public var digest: [UInt8] { state.withLock { $0.checksum.digest } }
}
