#if Commands
internal import CommandFrame
internal import DNSSD
internal import Libc
internal import Synchronization

/// Joins two connections. Each direction is half-closed separately; losing one connection ends the other.
enum SocketJoin {
    /// Returns when both directions have ended, or soon after the task is cancelled.
    static func run(_ one: Socket, _ other: Socket) async {
        await withTaskCancellationHandler {
            async let there: Void = pass(from: one, to: other)
            await pass(from: other, to: one)
            await there
        } onCancel: {
            one.end()
            other.end()
        }
    }

    private static func pass(from source: Socket, to sink: Socket) async {
        let end = try? await BlockingThread.value { Pump.run(from: source.descriptor, to: sink.descriptor) }
        if case .finished = end { return sink.endSending() }
        // Ends the other direction, too.
        source.end()
        sink.end()
    }
}

/// Joins standard input and output to a connection. Each direction is half-closed separately, as in nc.
struct StandardJoin {
    /// How it ended.
    private enum End {
        /// Both sides are done.
        case finished
        /// No one reads standard output any more.
        case unread
        case failed(CommandError)
    }

    private final class State: Sendable {
        private struct Halves {
            var isSent = false
            var isReceived = false
            var end: End?
            var waiter: CheckedContinuation<End, Never>?
        }
        private let halves = Mutex(Halves())

        func sent() { update { $0.isSent = true } }

        func received(endsAll: Bool) {
            update { halves in
                halves.isReceived = true
                if endsAll { halves.isSent = true }
            }
        }

        func ended(_ end: End) { update { $0.end = $0.end ?? end } }

        func value() async -> End {
            await withCheckedContinuation { continuation in update { $0.waiter = continuation } }
        }

        private func update(_ body: (inout Halves) -> Void) {
            let (waiter, end) = halves.withLock { halves -> (CheckedContinuation<End, Never>?, End) in
                body(&halves)
                if halves.isSent, halves.isReceived { halves.end = halves.end ?? .finished }
                guard let end = halves.end else { return (nil, .finished) }
                defer { halves.waiter = nil }
                return (halves.waiter, end)
            }
            waiter?.resume(returning: end)
        }
    }

    /// Returns when both directions have ended. A thread may still wait for unwanted input; it ends with the process.
    /// - Parameter failure: waits for what ends the connection early, and says why; nil: nothing did.
    /// - Throws: `CommandError` if the connection is lost or standard output cannot be written; `Output.Unread`.
    static func run(
        _ socket: Socket, until failure: (@Sendable () async -> CommandError?)? = nil
    ) async throws {
        let state = State()
        // Otherwise a person at a terminal would have to press a key to learn that the peer has gone.
        let isInteractive = isatty(STDIN_FILENO) == 1
        try BlockingThread.start { send(socket, state) }
        try BlockingThread.start { receive(socket, state, isInteractive) }
        let watch = failure.map { failure in
            Task { if let error = await failure() { state.ended(.failed(error)) } }
        }
        defer { watch?.cancel() }
        let end = await withTaskCancellationHandler {
            await state.value()
        } onCancel: {
            socket.end()
            state.ended(.finished)
        }
        socket.end()
        switch end {
        case .finished: try Task.checkCancellation()
        case .unread: throw Output.Unread()
        case .failed(let error): throw error
        }
    }

    private static func send(_ socket: Socket, _ state: State) {
        switch Pump.run(from: STDIN_FILENO, to: socket.descriptor) {
        case .finished: socket.endSending()
        case .readFailed(let code):
            state.ended(.failed(CommandError(.ioError, "cannot read standard input: \(systemMessage(code))")))
        // The reading side reports what became of the connection.
        case .writeFailed: break
        }
        state.sent()
    }

    private static func receive(_ socket: Socket, _ state: State, _ isInteractive: Bool) {
        switch Pump.run(from: socket.descriptor, to: STDOUT_FILENO) {
        case .finished:
            // Lets the reader of the output see its end while input may still be sent.
            let null = unsafe open("/dev/null", O_WRONLY | O_CLOEXEC)
            if null >= 0 {
                dup2(null, STDOUT_FILENO)
                close(null)
            }
            state.received(endsAll: isInteractive)
        case .readFailed(let code):
            state.ended(.failed(CommandError(.ioError, "the connection was lost: \(systemMessage(code))")))
        case .writeFailed(EPIPE): state.ended(.unread)
        case .writeFailed(let code):
            state.ended(
                .failed(CommandError(.ioError, "cannot write to standard output: \(systemMessage(code))")))
        }
    }
}

/// Copies bytes from one descriptor to another until one of them ends.
struct Pump {
    /// How copying ended.
    enum End: Sendable {
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
