#if Commands
internal import CommandFrame
internal import PeerIdentity
internal import DiscoverySystem

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
