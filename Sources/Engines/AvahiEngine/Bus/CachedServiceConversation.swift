import DNSSD

/// A conversation with a D-Bus that asks avahi-daemon for one service on some interfaces, and for the addresses of its hosts. A value.
///
/// It calls ResolveService and ResolveHostName (avahi-daemon/org.freedesktop.Avahi.Server.xml): avahi-daemon ends such a lookup itself in the
/// moment in which it has the answer, where a resolver of libavahi-client stays open until it is freed over the bus. Records that run out
/// meanwhile can end avahi-daemon 0.8 (docs/decisions/0014-nothing-is-held.md).
struct CachedServiceConversation: BusConversation {
    /// A service on an interface.
    struct Answer: Equatable {
        let interface: Int32
        let host: HostName
        /// Nil for 0.
        let port: Port?
        let txt: TXTRecord
        /// At most one of each family.
        var addresses: [IPAddress]
        /// AVAHI_LOOKUP_RESULT_LOCAL: this machine publishes it.
        let isLocal: Bool
    }

    /// What to do about received bytes.
    enum Step: BusStep {
        case send([UInt8])
        /// An answer has come, or one more address for it.
        case answered
        /// All is answered, or the connection is of no more use.
        case over
    }

    private enum Question {
        case hello
        case service(interface: Int32)
        case address(interface: Int32)
    }

    /// avahi-common/address.h
    private static let (unspecified, ipv4, ipv6) = (Int32(-1), Int32(0), Int32(1))
    /// AVAHI_LOOKUP_NO_ADDRESS and AVAHI_LOOKUP_RESULT_LOCAL, avahi-common/defs.h
    private static let (withoutAddress, local) = (UInt32(8), UInt32(8))

    private(set) var answers: [Answer] = []
    private let instance: ServiceInstance
    private let interfaces: [Int32]
    /// The AvahiProtocol over which records came.
    private let transport: Int32
    var stream = BusStream()
    /// Calls without a reply, by serial number.
    private var open: [UInt32: Question] = [:]
    private var serial: UInt32 = 0

    /// Creates a conversation about `instance` on the interfaces with these numbers.
    /// - Parameter family: over which the records came; nil for both.
    init(about instance: ServiceInstance, on interfaces: [Int32], over family: IPAddress.Family? = nil) {
        transport = family.map { $0 == .ipv4 ? Self.ipv4 : Self.ipv6 } ?? Self.unspecified
        self.instance = instance
        self.interfaces = interfaces
    }

    mutating func questions() -> [UInt8] {
        let bus = "org.freedesktop.DBus"
        var bytes = BusMessage.call("Hello", of: bus, at: "/org/freedesktop/DBus", [], serial: next(.hello))
        for interface in interfaces {
            bytes += ask(
                .service(interface: interface), "ResolveService",
                [
                    .int32(interface), .int32(transport), .string(instance.name.text),
                    .string(instance.type.description), .string(instance.domain.text), .int32(Self.unspecified),
                    .uint32(Self.withoutAddress),
                ])
        }
        return bytes
    }

    private mutating func ask(_ question: Question, _ member: String, _ arguments: [BusMessage.Argument]) -> [UInt8] {
        let name = "org.freedesktop.Avahi"
        return BusMessage.call(
            member, of: name, interface: name + ".Server", at: "/", arguments, serial: next(question))
    }

    private mutating func next(_ question: Question) -> UInt32 {
        serial += 1
        open[serial] = question
        return serial
    }

    mutating func steps(_ message: BusMessage) -> [Step] {
        guard let serial = message.replySerial, let question = open.removeValue(forKey: serial) else { return [] }
        var steps: [Step] = []
        switch (message.kind, question) {
        case (.methodReturn, .hello): break
        case (.methodReturn, .service(let interface)):
            guard let answer = answer(message.body, on: interface) else { break }
            answers.append(answer)
            steps.append(.answered)
            // Apart from the service: one whose host has no address is there all the same.
            for family in [Self.ipv4, Self.ipv6] {
                let arguments: [BusMessage.Argument] = [
                    .int32(interface), .int32(transport), .string(answer.host.text), .int32(family), .uint32(0),
                ]
                steps.append(.send(ask(.address(interface: interface), "ResolveHostName", arguments)))
            }
        case (.methodReturn, .address(let interface)):
            guard let address = Self.hostAddress(message.body, on: interface),
                let place = answers.firstIndex(where: { $0.interface == interface })
            else { break }
            answers[place].addresses.append(address)
            answers[place].addresses.sort { $0.family == .ipv4 && $1.family == .ipv6 }
            steps.append(.answered)
        case (_, .hello): return [.over]
        default: break
        }
        return open.isEmpty ? steps + [.over] : steps
    }

    /// Reads `iissssisqaayu`: interface, protocol, name, type, domain, host, family, address, port, TXT, flags.
    private func answer(_ body: BusMessage.Body, on interface: Int32) -> Answer? {
        var body = body
        guard body.number() == UInt32(bitPattern: interface), body.number() != nil else { return nil }
        for _ in ["name", "type", "domain"] { guard body.string() != nil else { return nil } }
        guard let host = body.string().flatMap({ HostName(observed: $0) }), body.number() != nil,
            body.string() != nil, let port = body.number16(), let txt = body.strings(), let flags = body.number()
        else { return nil }
        return Answer(
            interface: interface, host: host, port: Port(rawValue: port), txt: TXTRecord(strings: txt),
            addresses: [], isLocal: flags & Self.local != 0)
    }

    /// Reads `iisisu`: interface, protocol, name, family, address, flags.
    private static func hostAddress(_ body: BusMessage.Body, on interface: Int32) -> IPAddress? {
        var body = body
        guard body.number() != nil, body.number() != nil, body.string() != nil, body.number() != nil else { return nil }
        return body.string().flatMap { address($0, on: interface) }
    }

    /// Avahi's addresses have no scope: the record's interface is the scope.
    private static func address(_ text: String, on interface: Int32) -> IPAddress? {
        guard case .v6(let address, _)? = IPAddress(text) else { return IPAddress(text) }
        return .v6(address, scope: address.isLinkLocal ? UInt32(bitPattern: interface) : 0)
    }
}
