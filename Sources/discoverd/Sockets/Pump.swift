#if Commands
internal import Glibc

/// Copies bytes from one descriptor to another until the first ends.
struct Pump {
    /// How it ended.
    enum End {
        /// The source ended.
        case finished
        /// The source failed.
        case readFailed(Int32)
        /// The sink failed, or nobody reads it any more (EPIPE).
        case writeFailed(Int32)
    }

    private static let size = 256 * 1024

    /// Blocks the thread until the end.
    static func run(from source: Int32, to sink: Int32) -> End {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 4096)
        defer { unsafe buffer.deallocate() }
        while true {
            let count = unsafe read(source, buffer.baseAddress, buffer.count)
            if count == 0 { return .finished }
            if count < 0 {
                guard wait(source, POLLIN, errno) else { return .readFailed(errno) }
                continue
            }
            if let code = unsafe write(UnsafeRawBufferPointer(rebasing: buffer[..<count]), to: sink) {
                return .writeFailed(code)
            }
        }
    }

    private static func write(_ bytes: UnsafeRawBufferPointer, to sink: Int32) -> Int32? {
        var rest = unsafe bytes
        while unsafe !rest.isEmpty {
            let count = unsafe Glibc.write(sink, rest.baseAddress, rest.count)
            if count >= 0 {
                unsafe rest = unsafe UnsafeRawBufferPointer(rebasing: rest[count...])
            } else if !wait(sink, POLLOUT, errno) {
                return errno
            }
        }
        return nil
    }

    /// Whether to try again: a descriptor may be non-blocking because another program, with which it is shared, made it so.
    private static func wait(_ descriptor: Int32, _ event: Int32, _ code: Int32) -> Bool {
        switch code {
        case EINTR: return true
        case EAGAIN:
            var descriptor = pollfd(fd: descriptor, events: Int16(event), revents: 0)
            _ = unsafe poll(&descriptor, 1, -1)
            return true
        default: return false
        }
    }
}
#endif
