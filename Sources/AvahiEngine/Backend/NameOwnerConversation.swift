/// A conversation with a D-Bus that follows whether a name has an owner, now and after every change. A value: it takes bytes and returns
/// bytes (D-Bus specification, "Authentication Protocol" and "Message Protocol").
///
/// libdbus cannot do this: it has one system bus address per process, and that is the private bus's.
struct NameOwnerConversation {
    /// What to do about received bytes.
    enum Step: Equatable {
        case send([UInt8])
        /// Whether the name has an owner now.
        case owned(Bool)
        /// The bytes are invalid, or the bus refused: close the connection.
        case over
    }

    /// More than the bus ever sends in such a conversation.
    private static let limit = 65_536
    private static let bus = "org.freedesktop.DBus"
    private enum Call: UInt32 {
        case hello = 1
        case addMatch, nameHasOwner
    }

    private let name: String
    private var isAuthenticated = false
    private var isOver = false
    private var buffer: [UInt8] = []

    /// Creates a conversation about `name`.
    init(about name: String) { self.name = name }

    /// The first bytes to send, as the user with this number; the bus verifies it by the socket.
    static func greeting(user: UInt32) -> [UInt8] {
        let digits = Array("0123456789abcdef".utf8)
        let hex = String(user).utf8.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return [0] + Array("AUTH EXTERNAL ".utf8) + hex + Array("\r\n".utf8)
    }

    /// Takes bytes from the bus.
    mutating func received(_ bytes: some Sequence<UInt8>) -> [Step] {
        guard !isOver else { return [] }
        buffer += bytes
        var steps: [Step] = []
        while let step = next() {
            if let step { steps.append(step) }
            isOver = step == .over
            if isOver { break }
        }
        if !isOver, buffer.count > Self.limit { steps.append(.over) }
        return steps
    }

    /// The next step; an inner nil if a message needs none, an outer nil if the message is incomplete.
    private mutating func next() -> Step?? {
        guard isAuthenticated else {
            guard let end = buffer.firstIndex(of: UInt8(ascii: "\n")) else { return .none }
            let isTaken = buffer[..<end].starts(with: Array("OK ".utf8))
            buffer.removeFirst(end + 1)
            guard isTaken else { return .some(.over) }
            isAuthenticated = true
            return .some(.send(Array("BEGIN\r\n".utf8) + questions))
        }
        guard let head = BusMessage.length(of: buffer) else { return buffer.count < 16 ? .none : .some(.over) }
        guard head <= Self.limit else { return .some(.over) }
        guard buffer.count >= head else { return .none }
        let message = BusMessage(Array(buffer[..<head]))
        buffer.removeFirst(head)
        guard let message else { return .some(.over) }
        return .some(step(message))
    }

    private var questions: [UInt8] {
        let rule =
            "type='signal',sender='\(Self.bus)',interface='\(Self.bus)',member='NameOwnerChanged',arg0='\(name)'"
        return call(.hello, "Hello", nil) + call(.addMatch, "AddMatch", rule)
            + call(.nameHasOwner, "NameHasOwner", name)
    }

    private func call(_ call: Call, _ member: String, _ argument: String?) -> [UInt8] {
        BusMessage.call(member, of: Self.bus, at: "/org/freedesktop/DBus", argument, serial: call.rawValue)
    }

    private func step(_ message: BusMessage) -> Step? {
        switch message.kind {
        case .methodReturn where message.replySerial == Call.nameHasOwner.rawValue:
            var body = message.body
            return body.number().map { .owned($0 != 0) } ?? .over
        case .error: return .over
        case .signal where message.member == "NameOwnerChanged":
            var body = message.body
            guard let changed = body.string(), body.string() != nil, let new = body.string() else { return .over }
            return changed == name ? .owned(!new.isEmpty) : nil
        default: return nil
        }
    }
}
