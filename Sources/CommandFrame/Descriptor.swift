import Libc

/// Complete writes to a file descriptor.
public enum Descriptor {
    /// Writes all bytes. Waits if a program that shares the descriptor made it non-blocking.
    /// - Returns: nil on success, else the `errno`.
    public static func write(_ bytes: some Collection<UInt8>, to descriptor: Int32) -> Int32? {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Libc.write(descriptor, $0.baseAddress, $0.count) }
            let code = errno
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if code == EAGAIN {
                var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = unsafe poll(&waiting, 1, -1)
            } else if code != EINTR {
                return code
            }
        }
        return nil
    }
}
