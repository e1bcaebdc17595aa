#if Commands
internal import DiscoverySystem
internal import Libc
internal import PeerIdentity

/// Connections that have not sent the whole of their first TLS message (RFC 8446 §5.1). Each costs only a descriptor, so they may come as fast
/// as the system accepts them. Where there are too many, one of the greediest address is closed.
struct Lobby {
    private static let patience = Duration.seconds(10)
    /// Of a TLS record, and the most that follows it.
    private static let (header, longest) = (5, 16_640)

    private struct Guest {
        let id: UInt64
        let socket: Socket
        let until: MonotonicTime
        var hasGreeted = false
    }

    private var newcomers: Newcomers
    /// Oldest first.
    private var guests: [Guest] = []

    init(limit: Int = 256) { newcomers = Newcomers(limit: limit) }

    /// A connection is ready to be passed on.
    var hasGreeted: Bool { guests.contains { $0.hasGreeted } }

    /// The descriptors of connections that have not sent their whole message.
    var silent: [Int32] { guests.lazy.filter { !$0.hasGreeted }.map(\.socket.descriptor) }

    /// When `expire` has something to do.
    var deadline: MonotonicTime? { guests.first { !$0.hasGreeted }?.until }

    mutating func came(_ socket: Socket, _ now: MonotonicTime) {
        let (id, displaced) = newcomers.came(from: socket.peerAddress)
        if let displaced { remove(displaced)?.socket.close() }
        guests.append(Guest(id: id, socket: socket, until: now + Self.patience))
        // Usually the message has arrived by now.
        heard(socket.descriptor, isEnded: false)
    }

    /// - Parameter isEnded: the other end says no more.
    mutating func heard(_ descriptor: Int32, isEnded: Bool) {
        guard let index = guests.firstIndex(where: { $0.socket.descriptor == descriptor }) else { return }
        let guest = guests[index]
        if let missing = Self.missing(descriptor) {
            // Too few bytes do not wake the thread.
            guest.socket.set(SOL_SOCKET, SO_RCVLOWAT, missing)
            if isEnded { remove(guest.id)?.socket.close() }
        } else {
            guest.socket.set(SOL_SOCKET, SO_RCVLOWAT, 1)
            guests[index].hasGreeted = true
            newcomers.advanced(guest.id)
        }
    }

    /// Takes the first connection that has sent its message.
    mutating func next() -> Socket? { guests.first { $0.hasGreeted }.flatMap { remove($0.id)?.socket } }

    /// Closes those that took too long.
    /// - Returns: how many.
    mutating func expire(_ now: MonotonicTime) -> Int {
        let late = guests.filter { !$0.hasGreeted && $0.until <= now }
        for guest in late { remove(guest.id)?.socket.close() }
        return late.count
    }

    private mutating func remove(_ id: UInt64) -> Guest? {
        newcomers.left(id)
        return guests.firstIndex { $0.id == id }.map { guests.remove(at: $0) }
    }

    /// How many bytes are needed to tell whether the first record is whole; nil if it is, or is no TLS record, which others judge.
    private static func missing(_ descriptor: Int32) -> Int32? {
        var start = [UInt8](repeating: 0, count: header)
        let count = peek(descriptor, &start)
        guard count > 0 else { return 1 }
        // 22 is a handshake.
        guard start[0] == 22 else { return nil }
        guard count == header else { return Int32(header) }
        let length = Int(start[3]) << 8 | Int(start[4])
        guard length <= longest else { return nil }
        var record = [UInt8](repeating: 0, count: header + length)
        return peek(descriptor, &record) == record.count ? nil : Int32(record.count)
    }

    private static func peek(_ descriptor: Int32, _ bytes: inout [UInt8]) -> Int {
        unsafe bytes.withUnsafeMutableBytes {
            unsafe recv(descriptor, $0.baseAddress, $0.count, Int32(MSG_PEEK | MSG_DONTWAIT))
        }
    }
}
#endif
