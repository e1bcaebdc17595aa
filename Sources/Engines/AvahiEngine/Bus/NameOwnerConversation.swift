/// A conversation with a D-Bus that follows whether a name has an owner, now and after every change. A value: it takes bytes and returns
/// bytes (D-Bus specification, "Authentication Protocol" and "Message Protocol").
///
/// libdbus cannot do this: it has one system bus address per process, and that is the private bus's.
struct NameOwnerConversation: BusConversation {
    /// What to do about received bytes.
    enum Step: BusStep {
        case send([UInt8])
        /// Whether the name has an owner now.
        case owned(Bool)
        /// The bytes are invalid, or the bus refused: close the connection.
        case over
    }

    private static let bus = "org.freedesktop.DBus"
    private enum Call: UInt32 {
        case hello = 1
        case addMatch, nameHasOwner
    }

    private let name: String
    var stream = BusStream()

    /// Creates a conversation about `name`.
    init(about name: String) { self.name = name }

    func questions() -> [UInt8] {
        let rule =
            "type='signal',sender='\(Self.bus)',interface='\(Self.bus)',member='NameOwnerChanged',arg0='\(name)'"
        return call(.hello, "Hello", nil) + call(.addMatch, "AddMatch", rule)
            + call(.nameHasOwner, "NameHasOwner", name)
    }

    private func call(_ call: Call, _ member: String, _ argument: String?) -> [UInt8] {
        BusMessage.call(
            member, of: Self.bus, at: "/org/freedesktop/DBus", argument.map { [.string($0)] } ?? [],
            serial: call.rawValue)
    }

    func steps(_ message: BusMessage) -> [Step] {
        switch message.kind {
        case .methodReturn where message.replySerial == Call.nameHasOwner.rawValue:
            var body = message.body
            return [body.number().map { .owned($0 != 0) } ?? .over]
        case .error: return [.over]
        case .signal where message.member == "NameOwnerChanged":
            var body = message.body
            guard let changed = body.string(), body.string() != nil, let new = body.string() else { return [.over] }
            return changed == name ? [.owned(!new.isEmpty)] : []
        default: return []
        }
    }
}
