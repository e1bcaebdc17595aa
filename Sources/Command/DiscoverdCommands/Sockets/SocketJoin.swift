#if Commands
internal import CommandFrame
internal import DNSSD
internal import DiscoverySystem
internal import Libc

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
    /// How far it is.
    private struct Halves: Sendable {
        var isSent = false
        var isReceived = false
        /// Why the rest of the input could not be sent. Not a failure at once: what the other side has said is still to be read.
        var unsent: Int32?
        /// What ended it early.
        var failure: (any Error)?

        var isOver: Bool { isSent && isReceived }

        /// How it ended; nil while it goes on.
        var end: Result<Void, any Error>? {
            if let failure { return .failure(failure) }
            guard isOver else { return nil }
            guard let unsent else { return .success(()) }
            let reason = "the connection was lost: \(systemMessage(unsent)), and not all was sent"
            return .failure(CommandError(.ioError, reason))
        }

        mutating func fail(_ error: any Error) { if !isOver { failure = failure ?? error } }
    }

    /// Returns when both directions have ended. A thread may still wait for unwanted input; it ends with the process.
    /// - Parameter failure: waits for what ends the connection early, and says why; nil: nothing did.
    /// - Throws: `CommandError` if the connection is lost or standard output cannot be written; `Output.Unread`.
    static func run(
        _ socket: Socket, until failure: (@Sendable () async -> CommandError?)? = nil
    ) async throws {
        let halves = Awaited(Halves())
        // Otherwise a person at a terminal would have to press a key to learn that the peer has gone.
        let isInteractive = isatty(STDIN_FILENO) == 1
        try BlockingThread.start { send(socket, halves) }
        try BlockingThread.start { receive(socket, halves, isInteractive) }
        let watch = failure.map { failure in
            Task { if let error = await failure() { halves.change { $0.fail(error) } } }
        }
        defer { watch?.cancel() }
        let end = await halves.wait { $0.end }
        socket.end()
        try end?.get()
        try Task.checkCancellation()
    }

    private static func send(_ socket: Socket, _ halves: Awaited<Halves>) {
        let end = Pump.run(from: STDIN_FILENO, to: socket.descriptor)
        halves.change { halves in
            switch end {
            case .finished: socket.endSending()
            case .readFailed(let code):
                halves.fail(CommandError(.ioError, "cannot read standard input: \(systemMessage(code))"))
            // The reading side may see a clean end all the same: the other one closed, or this call took the error away.
            case .writeFailed(let code): halves.unsent = code
            }
            halves.isSent = true
        }
    }

    private static func receive(_ socket: Socket, _ halves: Awaited<Halves>, _ isInteractive: Bool) {
        let end = Pump.run(from: socket.descriptor, to: STDOUT_FILENO)
        halves.change { halves in
            switch end {
            case .finished:
                // Lets the reader of the output see its end while input may still be sent.
                let null = unsafe open("/dev/null", O_WRONLY | O_CLOEXEC)
                if null >= 0 {
                    dup2(null, STDOUT_FILENO)
                    close(null)
                }
                halves.isReceived = true
                if isInteractive { halves.isSent = true }
            case .readFailed(let code):
                halves.fail(CommandError(.ioError, "the connection was lost: \(systemMessage(code))"))
            case .writeFailed(EPIPE): halves.fail(Output.Unread())
            case .writeFailed(let code):
                halves.fail(CommandError(.ioError, "cannot write to standard output: \(systemMessage(code))"))
            }
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

    /// Copies until the end; blocks the thread. sendfile(2) sends a file in pages, and took three times the processor's time.
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
