import AppSupport
import CommandFrame
import Glibc
import Synchronization

/// A file to send.
public final class SourceFile: Sendable {
    private struct State {
        var checksum = Checksum()
        var count: Int64 = 0
    }

    private let file: Descriptor
    private let path: String
    /// The file's size when opened; no more is sent, and less is an error.
    public let size: Int64
    private let state = Mutex(State())

    /// Opens a regular file.
    public init(_ path: String) throws(FileFailure) {
        // O_NONBLOCK: a FIFO in place of the file must not block.
        let number = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard number >= 0 else { throw FileFailure.reading(path, errno: errno) }
        file = Descriptor(number)
        self.path = path
        guard let status = file.status, status.isFile else { throw FileFailure.reading(path, errno: EINVAL) }
        size = Int64(status.st_size)
    }

    /// The next bytes; empty at the end.
    /// - Throws: also if the file has become shorter.
    public func read() throws(FileFailure) -> [UInt8] { try read(atMost: Int64(Message.maximumData)) }

    private func read(atMost limit: Int64) throws(FileFailure) -> [UInt8] {
        try state.withLock { state throws(FileFailure) in
            guard state.count < size else { return [] }
            guard let bytes = file.read(Int(min(limit, size - state.count))) else {
                throw FileFailure.reading(path, errno: errno)
            }
            guard !bytes.isEmpty else {
                throw FileFailure(.other, CommandError(.noInput, "\(path) became shorter while it was sent"))
            }
            state.checksum.update(bytes)
            state.count += Int64(bytes.count)
            return bytes
        }
    }

    /// Reads up to a few MiB towards an offset, for the checksum.
    /// - Returns: whether more remains before the offset.
    public func skip(to offset: Int64) throws(FileFailure) -> Bool {
        let end = min(offset, count + (8 << 20))
        while count < end { if try read(atMost: end - count).isEmpty { break } }
        return count < offset && count < size
    }

    /// Starts reading from the beginning again.
    public func restart() throws(FileFailure) {
        try state.withLock { state throws(FileFailure) in
            guard lseek(file.number, 0, SEEK_SET) == 0 else { throw FileFailure.reading(path, errno: errno) }
            state = State()
        }
    }

    /// How many bytes have been read.
    public var count: Int64 { state.withLock { $0.count } }

    /// The SHA-256 of what has been read.
    public var digest: [UInt8] { state.withLock { $0.checksum.digest } }
}
