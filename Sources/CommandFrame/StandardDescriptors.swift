import Libc

/// Standard input, output and error.
public enum StandardDescriptors {
    /// Opens `/dev/null` for each that is closed. Otherwise a socket could become descriptor 1 and receive the output.
    /// - Returns: whether standard output was open.
    @discardableResult
    public static func fill() -> Bool {
        let outputWasOpen = fcntl(STDOUT_FILENO, F_GETFD) != -1
        // open(2) takes the lowest free number, so this order fills exactly the gaps.
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) == -1 {
            _ = unsafe open("/dev/null", O_RDWR)
        }
        return outputWasOpen
    }
}
