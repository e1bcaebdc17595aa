import NIOCore
import Synchronization

/// Waits for the ends of handshakes, of a limited number at a time: the oldest gives way to a new one.
final class Handshakes: Sendable {
    private let limit: Int
    /// Oldest first.
    private let channels = Mutex<[any Channel]>([])

    init(limit: Int) { self.limit = limit }

    /// Returns when a handshake is over, whatever its end; immediately for a plain stream.
    func wait(_ connection: DropConnection) async {
        guard connection.isSecured else { return }
        let channel = connection.stream.channel
        let oldest = channels.withLock { channels in
            channels.append(channel)
            return channels.count > limit ? channels.removeFirst() : nil
        }
        oldest?.close(promise: nil)
        _ = try? await connection.securedPeer()
        channels.withLock { channels in channels.removeAll { $0 === channel } }
    }
}
