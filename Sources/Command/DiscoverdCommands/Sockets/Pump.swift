#if Commands
internal import Libc

/// Copies bytes from one descriptor to another until one of them ends.
struct Pump {
    /// How copying ended.
    enum End {
        /// The source ended.
        case finished
        /// The source failed.
        case readFailed(Int32)
        /// The sink failed, or no one reads it any more (EPIPE).
        case writeFailed(Int32)
    }

    private static let size = 256 * 1024

    /// Copies until the end; blocks the thread.
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
            let count = unsafe Libc.write(sink, rest.baseAddress, rest.count)
            if count >= 0 {
                unsafe rest = unsafe UnsafeRawBufferPointer(rebasing: rest[count...])
            } else if !wait(sink, POLLOUT, errno) {
                return errno
            }
        }
        return nil
    }

    /// Waits until the descriptor is ready; returns whether to retry. A program that shares the descriptor may have made it non-blocking.
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
