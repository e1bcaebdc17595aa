import CLinux
import DiscoverySystem
import Libc
import Synchronization

/// The resources that a program needs beyond those it starts with.
public struct ProcessNeeds: Sendable {
    private let need: cprocessstart_need

    /// - Parameters:
    ///   - descriptors: how many it must be able to open.
    ///   - threads: in addition to one per processor.
    ///   - mebibytes: of address space, not counting thread stacks.
    public init(descriptors: Int32, threads: Int32, mebibytes: Int) {
        need = cprocessstart_need(descriptors: descriptors, threads: threads, space: mebibytes << 20)
    }

    /// Call this first in `main`. If /proc is missing, or this process's limits are too low, it reports why and exits with status 71.
    /// Without this check, Swift's runtime would later trap or hang silently.
    public func require(of program: String) { unsafe cprocessstart(program, need) }
}

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

/// Ends the process.
public enum ProcessEnd {
    /// What is to be called; nil once a thread has begun to.
    private static let last = Mutex<[@Sendable () -> Void]?>([])
    /// How long another thread that has begun may take, in microseconds: a little longer than a terminal takes to be given back.
    private static let patience: UInt32 = 2_500_000

    /// Registers `body` to be called before the process ends in any way except SIGKILL or a crash.
    public static func before(_ body: @escaping @Sendable () -> Void) { last.withLock { _ = $0?.append(body) } }

    /// Ends the process. Where another thread has begun to, it does, with its own status.
    public static func now(_ status: ExitStatus) -> Never {
        let bodies = last.withLock { last in
            defer { last = nil }
            return last
        }
        if let bodies {
            for body in bodies { body() }
        } else {
            // It may be giving the terminal back, which must not be cut off.
            usleep(patience)
        }
        // Not exit(3): other threads still run, and exit would tear down what they use.
        _exit(status.rawValue)
    }
}

/// A detached thread for blocking calls, which must not occupy one of the few threads that tasks share.
public enum BlockingThread {
    /// Starts a thread that calls `run`.
    /// - Throws: `CommandError` with `.systemError` if the system has no thread left.
    public static func start(_ run: @escaping @Sendable () -> Void) throws(CommandError) {
        let code = SystemThread.start(run)
        guard code == 0 else { throw CommandError(.systemError, "cannot start a thread", errno: code) }
    }

    /// Runs `body` on a thread, and waits for it to return. Cancelling the task does not end it.
    /// - Throws: what `body` throws, and what `start` does.
    package static func value<Value: Sendable>(
        of body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            do throws(CommandError) {
                try start { continuation.resume(with: Result { try body() }) }
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }

    /// The same; `body` can ask whether the task was cancelled.
    package static func value<Value: Sendable>(
        of body: @escaping @Sendable (_ isCancelled: () -> Bool) throws -> Value
    ) async throws -> Value {
        let isCancelled = Locked(false)
        return try await withTaskCancellationHandler {
            try await value { try body { isCancelled.withLock { $0 } } }
        } onCancel: {
            isCancelled.withLock { $0 = true }
        }
    }
}

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

/// What a program does in a bare `swift build`: the trait `Commands` is off, so it has no command line.
public enum BareBuild {
    /// Prints how to build the program, and exits with status 78.
    public static func end(_ program: String) -> Never {
        let error = CommandError(
            .badConfiguration, "\(program) was built without the package's trait Commands and can do nothing",
            advice: ["Build it with: swift build --traits Commands (as 'make build' does)."])
        ProgramNotices(program: program).failure(error)
        exit(error.status.rawValue)
    }
}
