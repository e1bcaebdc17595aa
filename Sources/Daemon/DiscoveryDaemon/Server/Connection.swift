internal import Discovery
internal import DiscoverySystem
internal import Libc
internal import NIOCore
internal import NIOPosix

/// One client: its peer, and how to end it.
struct Connection: Sendable {
    let id: UInt64
    let peer: SocketPeer
    let isReadOnly: Bool
    fileprivate let channel: any Channel
    fileprivate let table: Connections

    func became(_ activity: ConnectionTable.Activity) { table.change { $0.became(activity, id, now: $1) } }
    func answered() { table.change { $0.answered(id, now: $1) } }
    func received() { table.change { $0.received(id, now: $1) } }
    /// It asks for an endless answer; returns why it may not have one.
    func watches() -> String? { table.change { $0.watches(id, now: $1) } }
    func close() { channel.close(promise: nil) }
}

/// All clients.
final class Connections: Sendable {
    private struct State {
        var table: ConnectionTable
        var open: [UInt64: Connection] = [:]
        var lastID: UInt64 = 0
    }

    private let state: Locked<State>
    private let time = SystemTime()
    /// Says that somebody has come: while nobody is there, nothing needs a look.
    let arrivals: AsyncStream<Void>
    private let arrived: AsyncStream<Void>.Continuation

    init(limits: ConnectionTable.Limits) {
        (arrivals, arrived) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        state = Locked(State(table: ConnectionTable(limits: limits)))
    }

    var count: Int { state.withLock { $0.table.count } }

    /// - Returns: nil and why, when there is no room; and whether another was closed for it.
    func accepted(
        _ channel: any Channel,
        _ peer: SocketPeer,
        isReadOnly: Bool
    ) -> (Connection?, refusal: String?, isReplacing: Bool) {
        let now = time.now
        defer { arrived.yield() }
        let (connection, victim, refusal) = state.withLock { state -> (Connection?, Connection?, String?) in
            state.lastID += 1
            let id = state.lastID
            var victim: Connection?
            switch state.table.connected(id, of: peer.owner, now: now) {
            case .refused(let reason): return (nil, nil, reason)
            case .accepted: break
            case .replacing(let other): victim = state.open.removeValue(forKey: other)
            }
            let new = Connection(id: id, peer: peer, isReadOnly: isReadOnly, channel: channel, table: self)
            state.open[id] = new
            return (new, victim, nil)
        }
        victim?.close()
        return (connection, refusal, victim != nil)
    }

    fileprivate func change<Result>(_ body: (inout ConnectionTable, _ now: Duration) -> Result) -> Result {
        let now = time.now
        return state.withLock { body(&$0.table, now) }
    }

    func closed(_ id: UInt64) {
        state.withLock { state in
            state.table.closed(id)
            state.open[id] = nil
        }
    }

    /// Closes connections whose time is over, and returns them with what they did for too long.
    func sweep() -> [(SocketPeer, ConnectionTable.Activity)] {
        let now = time.now
        let expired = state.withLock { state in
            state.table.takeExpired(now: now).compactMap { id, activity in
                state.open.removeValue(forKey: id).map { ($0, activity) }
            }
        }
        for (connection, _) in expired { connection.close() }
        return expired.map { ($0.peer, $1) }
    }

    func closeAll() {
        for connection in state.withLock({ Array($0.open.values) }) { connection.close() }
    }
}

extension Channel {
    /// The peer of a Unix socket. Call it on the channel's event loop.
    func peer() throws -> SocketPeer {
        let known = try pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
            Sockets.peer(of: $0)
        }
        guard let known else { return SocketPeer(uid: nil) }
        guard let peer = known else { throw IOError(errnoCode: errno, reason: "the peer of a socket") }
        return SocketPeer(uid: peer.user, gid: peer.group, pid: peer.process)
    }
}
