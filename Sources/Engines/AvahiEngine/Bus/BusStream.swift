/// What a D-Bus sends, cut into messages once it has let us in. A value: it takes bytes (D-Bus specification, "Authentication Protocol" and
/// "Message Protocol").
struct BusStream {
    enum Item {
        /// Send `begin` and the first calls.
        case authenticated
        case message(BusMessage)
        /// The bytes are invalid, or the bus refused: close the connection.
        case over
    }

    /// Sent when the bus has let us in.
    static let begin = Array("BEGIN\r\n".utf8)
    /// More than the bus ever sends in such conversations.
    private static let limit = 65_536

    private enum Phase { case greeting, messages, over }

    private var phase = Phase.greeting
    private var buffer: [UInt8] = []

    /// The first bytes to send, as the user with this number; the bus verifies it by the socket.
    static func greeting(user: UInt32) -> [UInt8] {
        let digits = Array("0123456789abcdef".utf8)
        let hex = String(user).utf8.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return [0] + Array("AUTH EXTERNAL ".utf8) + hex + Array("\r\n".utf8)
    }

    /// Takes bytes from the bus. Nothing follows `over`.
    mutating func received(_ bytes: some Sequence<UInt8>) -> [Item] {
        guard phase != .over else { return [] }
        buffer += bytes
        var items: [Item] = []
        while let item = next() {
            items.append(item)
            if case .over = item { end() }
        }
        if phase != .over, buffer.count > Self.limit {
            items.append(.over)
            end()
        }
        return items
    }

    /// Nothing more is wanted.
    mutating func end() {
        phase = .over
        buffer = []
    }

    /// Nil if nothing is complete.
    private mutating func next() -> Item? {
        switch phase {
        case .over: return nil
        case .greeting:
            guard let end = buffer.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
            defer { buffer.removeFirst(end + 1) }
            guard buffer[..<end].starts(with: Array("OK ".utf8)) else { return .over }
            phase = .messages
            return .authenticated
        case .messages: break
        }
        guard let length = BusMessage.length(of: buffer) else { return buffer.count < 16 ? nil : .over }
        guard length <= Self.limit else { return .over }
        guard buffer.count >= length else { return nil }
        defer { buffer.removeFirst(length) }
        return BusMessage(Array(buffer[..<length])).map { .message($0) } ?? .over
    }
}
