#if Commands
internal import CLinux
internal import CommandFrame
internal import DiscoverySystem
internal import Libc
internal import PeerIdentity
internal import Synchronization

/// Accepts connections on its own thread, up to a limit at a time.
final class Acceptor: Sendable {
    private let listeners: ListeningSockets
    /// Signalled once per free place; the thread takes one before each accept.
    private let places: WakeUp
    /// Readable once the acceptor has ended.
    private let stop = WakeUp()
    private let isStopped = Mutex(false)

    /// - Parameter limit: the maximum number of concurrent connections.
    init(_ listeners: ListeningSockets, limit: Int) throws(CommandError) {
        self.listeners = listeners
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
            while self.wait(for: [self.places.descriptor]) {
                self.places.clear()
                guard let socket = self.accept() else { break }
                continuation.yield(socket)
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

    /// Waits for one of the descriptors, and follows interface changes meanwhile. Returns false once the acceptor has ended.
    private func wait(for descriptors: [Int32]) -> Bool {
        let changes = listeners.bounds.map { [$0.changes] } ?? []
        while true {
            var polled = (descriptors + [stop.descriptor] + changes).map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            guard unsafe poll(&polled, nfds_t(polled.count), -1) > 0 else { continue }
            if let bounds = listeners.bounds, polled.last?.revents != 0 { bounds.refresh(listeners.sockets) }
            if polled.dropLast(changes.count).contains(where: { $0.revents != 0 }) {
                return !isStopped.withLock { $0 }
            }
        }
    }

    private func accept() -> Socket? {
        while wait(for: listeners.sockets.map(\.descriptor)) {
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
        }
        return nil
    }
}

/// Places for so many at a time; who comes later waits, in turn.
final class Places: Sendable {
    private struct State {
        var free: Int
        var next: UInt64 = 0
        /// Oldest first.
        var waiting: [(id: UInt64, waiter: CheckedContinuation<Bool, Never>)] = []
    }

    private let state: Locked<State>

    init(_ count: Int) { state = Locked(State(free: count)) }

    /// Waits for a place, which `give()` gives back.
    /// - Returns: false where the task was cancelled instead.
    func take() async -> Bool {
        let id = state.withLock { state in
            state.next += 1
            return state.next
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let result: Bool? = state.withLock { state in
                    if Task.isCancelled { return false }
                    if state.free > 0 {
                        state.free -= 1
                        return true
                    }
                    state.waiting.append((id, continuation))
                    return nil
                }
                if let result { continuation.resume(returning: result) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiting.firstIndex { $0.id == id }.map { state.waiting.remove(at: $0).waiter }
            }
            waiter?.resume(returning: false)
        }
    }

    func give() {
        let waiter = state.withLock { state in
            if state.waiting.isEmpty { state.free += 1 }
            return state.waiting.isEmpty ? nil : state.waiting.removeFirst().waiter
        }
        waiter?.resume(returning: true)
    }
}

/// What is done with connections before they have proven who they are. Where there are too many, one of the greediest address is ended.
final class NewcomerRoom: Sendable {
    /// So many at a time. An acceptor needs more places: who has to give way takes one until it is gone.
    static let limit = 64
    /// Places of an acceptor in front of a room, beyond those for who has come further.
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
#endif
