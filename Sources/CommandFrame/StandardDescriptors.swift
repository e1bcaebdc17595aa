import Glibc

/// The three descriptors every program is started with.
public enum StandardDescriptors {
    /// Opens `/dev/null` for each that is closed, so that no socket ever becomes descriptor 1 and is written to as output.
    /// - Returns: whether standard output was open.
    @discardableResult
    public static func fill() -> Bool {
        let outputWasOpen = fcntl(STDOUT_FILENO, F_GETFD) != -1
        // open() takes the lowest free number: asking in this order fills exactly the gaps.
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) == -1 {
            _ = unsafe open("/dev/null", O_RDWR)
        }
        return outputWasOpen
    }
}
