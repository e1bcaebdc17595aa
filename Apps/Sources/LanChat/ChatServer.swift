import AppSupport
import DiscoveryTLS
import LanChatCore
import NIOCore
import NIOPosix
import PeerIdentity

/// The room and its connections. Everything runs on one event loop: there are no locks, and no client waits for another.
final class ChatServer {
    /// The person at the server, who has no connection; clients count from 1.
    static let person = 0

    /// Why a client is refused.
    enum Refusal: String, Error {
        case full = "the room is full"
        case hostHasEnough = "your host has as many places here as one may have"
    }

    /// The maximum queue for one client in bytes; a client that reads more slowly is dropped.
    static let maximumPending = 256 * 1024
    /// How long a client may take to introduce itself.
    static let patience = TimeAmount.seconds(120)
    /// How long what was said before a client ended may take to reach it.
    static let lastWords = TimeAmount.seconds(30)
    /// How long a refused client may take to leave, and how many such clients there may be.
    static let farewell = TimeAmount.seconds(2)
    private static let maximumRefused = 64

    private var room = ChatRoom<Int>()
    private var connections: [Int: ChatConnection] = [:]
    private var next = 0
    private var refusedCount = 0
    private var places: Places<Int>
    /// Whether clients speak TLS.
    let isSecured: Bool
    /// Receives what happens, as text.
    private let report: @Sendable (String) -> Void
    /// Receives who comes for the first time, and who is not let in.
    private let tell: @Sendable (ChatArrival) -> Void

    /// - Parameter key: of the person at the server; nil for a plain room.
    init(
        maximumClients: Int, perHost: Int, key: KeyFingerprint?, report: @escaping @Sendable (String) -> Void,
        tell: @escaping @Sendable (ChatArrival) -> Void
    ) {
        places = Places(limit: maximumClients, perHost: perHost)
        isSecured = key != nil
        self.report = report
        self.tell = tell
        if let key { room.proven(key, of: Self.person) }
    }

    /// Admits a client, or refuses it.
    func entered(_ connection: ChatConnection, from host: ChatHost) -> Result<Int, Refusal> {
        next += 1
        switch places.enter(next, from: host) {
        case .enters: break
        case .entersInPlaceOf(let other):
            connections[other]?.send(ByteBuffer(string: "* \(Refusal.full.rawValue): another host had no place\n"))
            connections[other]?.drop()
        case .hostHasEnough: return .failure(.hostHasEnough)
        case .full: return .failure(.full)
        }
        connections[next] = connection
        return .success(next)
    }

    /// - Returns: whether the client can be told the reason.
    func refused() -> Bool {
        guard refusedCount < Self.maximumRefused else { return false }
        refusedCount += 1
        return true
    }

    func refusedIsGone() { refusedCount -= 1 }

    /// A client's key was accepted.
    func proven(_ peer: PeerTLS.Peer, of id: Int) {
        room.proven(peer.key, of: id)
        if peer.isNew { tell(.new(peer)) }
    }

    /// A caller is not let in.
    func failed(_ error: any Error, from host: String) {
        if let refusal = error as? PeerRefusal { tell(.refused(refusal, from: host)) }
    }

    /// A caller speaks TLS to a plain room.
    func heardTLS(from host: String) { tell(.spokeTLS(from: host)) }

    /// Ends all connections: with TLS an end without a word would be taken for a broken connection.
    /// - Returns: when all are gone, or a moment is over.
    func close(on loop: any EventLoop) -> EventLoopFuture<Void> {
        let late = loop.scheduleTask(in: Self.farewell) {}
        let ends = connections.values.map { connection in
            let end = loop.makePromise(of: Void.self)
            connection.close(end)
            return end.futureResult
        }
        EventLoopFuture.andAllComplete(ends, on: loop).whenComplete { _ in late.cancel() }
        return late.futureResult.recover { _ in }
    }

    func hasJoined(_ id: Int) -> Bool { room.hasJoined(id) }

    func received(_ line: LineFraming.Line, from id: Int) { deliver(room.received(line, from: id)) }

    func left(_ id: Int) {
        places.left(id)
        guard connections.removeValue(forKey: id) != nil else { return }
        deliver(room.left(id))
    }

    private func deliver(_ deliveries: [ChatRoom<Int>.Delivery]) {
        for delivery in deliveries {
            switch delivery {
            case .one(Self.person, let text): report(text)
            case .one(let id, let text): connections[id]?.send(ByteBuffer(string: text + "\n"))
            case .everyone(let text):
                report(text)
                let line = ByteBuffer(string: text + "\n")
                // Iterates over a copy, because dropped clients leave the table.
                for (id, connection) in connections.map({ $0 }) where room.hasJoined(id) { connection.send(line) }
            }
        }
    }
}
