#if Commands
internal import CLinux
internal import CommandFrame
internal import DiscoverySystem
internal import Libc
internal import PeerIdentity
internal import Synchronization

/// Accepts connections on its own thread, up to a limit at a time.
final class Acceptor: Sendable {
    /// What a connection must do before it counts.
    enum Entry: Sendable {
        case none
        /// Send the whole of its first TLS message; `late` is called for each that takes too long.
        case hello(late: @Sendable () -> Void)
    }

    private let listeners: ListeningSockets
    private let entry: Entry
    /// Signalled once per free place; the thread takes one before each accept.
    private let places: WakeUp
    /// Readable once the acceptor has ended.
    private let stop = WakeUp()
    private let isStopped = Mutex(false)

    /// - Parameter limit: the maximum number of concurrent connections.
    init(_ listeners: ListeningSockets, limit: Int, entry: Entry = .none) throws(CommandError) {
        (self.listeners, self.entry) = (listeners, entry)
        places = WakeUp(signals: UInt32(clamping: limit))
        guard places.descriptor >= 0, stop.descriptor >= 0 else {
            throw CommandError(.systemError, "cannot accept connections", errno: EMFILE)
        }
    }

    /// The connections as they arrive, until `end()`. Call it once, and call `release()` once for each connection.
    ///
    /// The buffer holds at most `limit` connections.
    func connections() throws(CommandError) -> AsyncStream<Socket> {
        let (stream, continuation) = AsyncStream.makeStream(of: Socket.self)
        try BlockingThread.start {
            switch self.entry {
            case .none: self.acceptDirectly { continuation.yield($0) }
            case .hello(let late): self.acceptThroughLobby({ continuation.yield($0) }, late)
            }
            self.listeners.close()
            continuation.finish()
        }
        return stream
    }

    /// Frees a connection's place after it has ended.
    func release() { places.signal() }

    /// Stops accepting.
    func end() {
        isStopped.withLock { $0 = true }
        stop.signal()
    }

    /// Handles connections side by side until one has a result; then accepts no more, cancels the others, and waits for their end.
    /// - Returns: the first result; nil where the acceptor or the task was ended before.
    func first<Result: Sendable>(_ handle: @escaping @Sendable (Socket) async -> Result?) async throws -> Result? {
        let connections = try connections()
        let (results, sink) = AsyncStream.makeStream(of: Result.self, bufferingPolicy: .bufferingOldest(1))
        return await withTaskCancellationHandler {
            let handling = Task {
                await withDiscardingTaskGroup { group in
                    for await socket in connections {
                        group.addTask {
                            defer { self.release() }
                            if let result = await handle(socket) { sink.yield(result) }
                        }
                    }
                }
                sink.finish()
            }
            let result = await results.first { _ in true }
            end()
            handling.cancel()
            await handling.value
            return result
        } onCancel: {
            end()
            sink.finish()
        }
    }

    private func acceptDirectly(_ yield: (Socket) -> Void) {
        while wait(for: [places.descriptor]) != nil {
            places.clear()
            guard let socket = accept() else { return }
            yield(socket)
        }
    }

    private func accept() -> Socket? {
        while wait(for: listeners.sockets.map(\.descriptor)) != nil {
            if let socket = next() { return socket }
        }
        return nil
    }

    /// Accepts every connection, and passes on those that have sent their first message while there are places.
    private func acceptThroughLobby(_ yield: (Socket) -> Void, _ late: () -> Void) {
        let listening = listeners.sockets.map(\.descriptor)
        var lobby = Lobby()
        while true {
            let place = lobby.hasGreeted ? [places.descriptor] : []
            guard let ready = wait(for: listening + place + lobby.silent, until: lobby.deadline) else { return }
            for (descriptor, isEnded) in ready { lobby.heard(descriptor, isEnded: isEnded) }
            for _ in 0..<lobby.expire(.now) { late() }
            if ready.contains(where: { $0.descriptor == places.descriptor }), let socket = lobby.next() {
                places.clear()
                yield(socket)
            }
            // Several for each wait, so that a flood costs little.
            var accepted = 0
            while accepted < 32, ready.contains(where: { listening.contains($0.descriptor) }), let socket = next() {
                lobby.came(socket, .now)
                accepted += 1
            }
        }
    }

    /// Waits for one of the descriptors or a time, and follows interface changes meanwhile.
    /// - Returns: those that are ready, and whether the other end says no more; nil once the acceptor has ended.
    private func wait(
        for descriptors: [Int32], until deadline: MonotonicTime? = nil
    ) -> [(descriptor: Int32, isEnded: Bool)]? {
        let changes = listeners.bounds.map { [$0.changes] } ?? []
        let ends = Int16(POLLHUP) | Int16(POLLERR) | Int16(Self.peerEnded)
        var polled = (descriptors + [stop.descriptor] + changes).map {
            pollfd(fd: $0, events: Int16(POLLIN) | Int16(Self.peerEnded), revents: 0)
        }
        while true {
            let wait = deadline.map {
                Int32(clamping: max(0, ($0.microseconds - MonotonicTime.now.microseconds) / 1000 + 1))
            }
            let count = unsafe poll(&polled, nfds_t(polled.count), wait ?? -1)
            if isStopped.withLock({ $0 }) { return nil }
            guard count >= 0 else { continue }
            if let bounds = listeners.bounds, polled.last?.revents != 0 { bounds.refresh(listeners.sockets) }
            let ready = polled.prefix(descriptors.count).filter { $0.revents != 0 }
            if !ready.isEmpty || count == 0 { return ready.map { ($0.fd, $0.revents & ends != 0) } }
        }
    }

    /// POLLRDHUP, which is declared for _GNU_SOURCE only.
    private static let peerEnded = 0x2000

    private func next() -> Socket? {
        for listener in listeners.sockets {
            let descriptor = clinux_accept(listener.descriptor)
            if descriptor >= 0 {
                let socket = Socket(owning: descriptor)
                guard listeners.bounds?.admits(socket) ?? true else { continue }
                socket.set(Int32(IPPROTO_TCP), TCP_NODELAY, 1)
                socket.watchPeer()
                return socket
            }
            // Out of descriptors or memory: the connection waits in the backlog. Retrying at once would spin.
            if errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM { usleep(100_000) }
        }
        return nil
    }
}

/// Handles connections that have not proven their identity. If there are too many, one from the address with the most is ended.
final class NewcomerRoom: Sendable {
    /// How many at a time. An acceptor needs more places: a connection that gives way keeps its place until it is gone.
    static let limit = 64
    /// The places that an acceptor needs for a room, in addition to those of admitted connections.
    static let places = 2 * limit

    private struct State {
        var newcomers = Newcomers(limit: NewcomerRoom.limit)
        /// How each is ended.
        var ends: [UInt64: @Sendable () -> Void] = [:]
    }

    private let state = Locked(State())

    /// Runs `body` for a connection, which is a newcomer until `body` has ended or called its argument; cancels it where the connection has to give way.
    func run<Result: Sendable>(
        _ socket: Socket, _ body: @escaping @Sendable (_ leave: @escaping @Sendable () -> Void) async -> Result
    ) async -> Result {
        let address = socket.peerAddress
        let (id, task, end) = state.withLock { state -> (UInt64, Task<Result, Never>, (@Sendable () -> Void)?) in
            let (id, displaced) = state.newcomers.came(from: address)
            let task = Task { await body { [self] in leave(id) } }
            state.ends[id] = { task.cancel() }
            return (id, task, displaced.flatMap { state.ends.removeValue(forKey: $0) })
        }
        end?()
        defer { leave(id) }
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }

    private func leave(_ id: UInt64) {
        state.withLock { state in
            state.newcomers.left(id)
            state.ends[id] = nil
        }
    }
}

/// Handles connections concurrently until told to stop, then gives them time to end.
enum Serving {
    /// How long connections may continue after the command was told to end.
    static let patience = Duration.seconds(4)

    /// Returns when the acceptor has ended and every connection is handled.
    /// - Parameter handle: handles one connection; its task is cancelled when `patience` runs out. The first error ends everything.
    static func run(
        _ acceptor: Acceptor,
        _ handle: @escaping @Sendable (Socket) async throws -> Void
    ) async throws {
        let connections = try acceptor.connections()
        // Unstructured: the connections must outlive the cancellation of the command's task.
        let serving = Task {
            try await withThrowingDiscardingTaskGroup { group in
                for await socket in connections {
                    group.addTask {
                        defer { acceptor.release() }
                        try await handle(socket)
                    }
                }
            }
        }
        try await withTaskCancellationHandler {
            defer { acceptor.end() }
            try await serving.value
        } onCancel: {
            acceptor.end()
            Task {
                try? await Task.sleep(for: patience)
                serving.cancel()
            }
        }
    }
}
#endif
