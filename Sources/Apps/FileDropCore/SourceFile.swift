import AppSupport
import Glibc

/// A file that is sent. Used by one task at a time.
public final class SourceFile: @unchecked Sendable {
    private let file: Descriptor
    private let path: String
    /// Its bytes when it was opened; not more are sent, and fewer are an error.
    public let size: Int64
    private var checksum = Checksum()
    private var count: Int64 = 0

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
        guard count < size else { return [] }
        guard let bytes = file.read(Int(min(Int64(Message.maximumData), size - count))) else {
            throw FileFailure.reading(path, errno: errno)
        }
        guard !bytes.isEmpty else {
            throw FileFailure(.other, AppError(.noInput, "\(path) became shorter while it was sent"))
        }
        checksum.update(bytes)
        count += Int64(bytes.count)
        return bytes
    }

    /// Whether the file begins with bytes of that SHA-256; then reading goes on after them, else from the start.
    public func skip(_ offset: Int64, digest wanted: [UInt8]) throws(FileFailure) -> Bool {
        while offset <= size, count < offset {
            guard let bytes = file.read(Int(min(Int64(1 << 20), offset - count))), !bytes.isEmpty else { break }
            checksum.update(bytes)
            count += Int64(bytes.count)
        }
        if count == offset, checksum.digest == wanted { return true }
        guard lseek(file.number, 0, SEEK_SET) == 0 else { throw FileFailure.reading(path, errno: errno) }
        checksum = Checksum()
        count = 0
        return false
    }

    /// The SHA-256 of what was read.
    public var digest: [UInt8] { checksum.digest }
}
