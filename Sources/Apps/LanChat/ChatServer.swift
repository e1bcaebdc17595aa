import AppSupport
import LanChatCore
import NIOCore
import NIOPosix

/// The room and its connections. Everything is on one event loop: nothing here is locked, and nobody waits for anybody.
final class ChatServer {
    /// Bytes that wait for one client; who reads more slowly is dropped.
    static let maximumPending = 256 * 1024
    /// How long a client may take to say who it is.
    static let patience = TimeAmount.seconds(120)
    /// How long one for whom there is no place may take to go, and how many of them there may be.
    static let farewell = TimeAmount.seconds(2)
    private static let maximumRefused = 64

    private var room = ChatRoom<Int>()
    private var connections: [Int: ChatConnection] = [:]
    private var next = 0
    private var refusedCount = 0
    private let maximumClients: Int
    /// Told what happens, in the room's own words.
    private let tell: @Sendable (String) -> Void

    init(maximumClients: Int, tell: @escaping @Sendable (String) -> Void) {
        self.maximumClients = maximumClients
        self.tell = tell
    }

    /// A client came; nil when there are too many.
    func entered(_ connection: ChatConnection) -> Int? {
        guard connections.count < maximumClients else { return nil }
        next += 1
        connections[next] = connection
        return next
    }

    /// - Returns: whether there is time to tell it so.
    func refused() -> Bool {
        guard refusedCount < Self.maximumRefused else { return false }
        refusedCount += 1
        return true
    }

    func refusedIsGone() { refusedCount -= 1 }

    func hasJoined(_ id: Int) -> Bool { room.hasJoined(id) }

    func received(_ line: LineFraming.Line, from id: Int) { deliver(room.received(line, from: id)) }

    func left(_ id: Int) {
        guard connections.removeValue(forKey: id) != nil else { return }
        deliver(room.left(id))
    }

    private func deliver(_ deliveries: [ChatRoom<Int>.Delivery]) {
        for delivery in deliveries {
            switch delivery {
            case .one(let id, let text): connections[id]?.send(ByteBuffer(string: text + "\n"))
            case .everyone(let text):
                tell(text)
                let line = ByteBuffer(string: text + "\n")
                // A copy: who is dropped on the way leaves the table.
                for (id, connection) in connections.map({ $0 }) where room.hasJoined(id) { connection.send(line) }
            }
        }
    }
}
