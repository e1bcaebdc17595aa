package import DNSMessage
internal import DNSSD
package import MulticastEngine

/// A query of unicast DNS (RFC 1035), and the answers that it may get. Bytes are anybody's.
package struct DNSQuery: Hashable, Sendable {
    /// How it came.
    package enum Transport: Hashable, Sendable { case datagram, stream }

    /// What came.
    package enum Reading: Hashable, Sendable {
        case query(DNSQuery)
        /// It is answered with these bytes, whoever asks for what.
        case faulty([UInt8])
        /// It is no query, and gets no answer.
        case ignored
    }

    /// The most bytes of a query: a name, and options of EDNS.
    package static let longest = 4096
    /// The most bytes of an answer in a datagram: what no path cuts into pieces; without EDNS 512 (RFC 1035 §4.2.1).
    package static let longestDatagram = 1232
    private static let shortestDatagram = 512
    /// The longest time that an answer may be kept, in seconds.
    package static let longestLife: UInt32 = 120
    /// The same for "there is none", in seconds: as long as nobody's silence counts (`DeskTable.silence`).
    package static let silence: UInt32 = 5
    /// RA (RFC 1035 §4.1.1): of its zones everything is answered, and resolvers forward to no server that does not say it.
    private static let recursionAvailable = Message.Flags(rawValue: 1 << 7)

    package let question: Question
    private let id: UInt16
    private let asked: Message.Flags
    private let hasEDNS: Bool
    /// The most bytes of the answer.
    private let limit: Int
    /// The bytes that it had.
    package let length: Int

    package static func read(_ bytes: [UInt8], by transport: Transport) -> Reading {
        guard 12...longest ~= bytes.count else { return .ignored }
        let (id, flags) = (UInt16(bytes[0]) << 8 | UInt16(bytes[1]), UInt16(bytes[2]) << 8 | UInt16(bytes[3]))
        let header = Message(id: id, flags: Message.Flags(rawValue: flags))
        // An answer to an answer would go to and fro for ever.
        guard !header.flags.contains(.response) else { return .ignored }
        func faulty(_ code: UInt16, edns: EDNS? = nil) -> Reading {
            var answer = Message(id: id, flags: [.response], edns: edns)
            answer.opcode = header.opcode
            answer.flags.formUnion(header.flags.intersection(.recursionDesired))
            answer.flags.formUnion(Message.Flags(rawValue: code & 0xF))
            return (try? answer.written(limit: shortestDatagram, compression: .unicast)).map { .faulty($0) } ?? .ignored
        }
        guard header.opcode == 0 else { return faulty(ResponseCode.notImplemented) }
        guard let message = try? Message(reading: bytes), message.questions.count == 1 else {
            return faulty(ResponseCode.formatError)
        }
        guard (message.edns?.version ?? 0) == 0 else {
            // BADVERS, 16 (RFC 6891 §6.1.3).
            return faulty(0, edns: EDNS(payloadSize: UInt16(longestDatagram), extendedResponseCode: 1))
        }
        let size = message.edns.map { Int($0.payloadSize) } ?? shortestDatagram
        let limit =
            transport == .stream ? Message.maximumLength : min(max(size, shortestDatagram), longestDatagram)
        return .query(
            DNSQuery(
                question: message.questions[0], id: id, asked: message.flags, hasEDNS: message.edns != nil,
                limit: limit, length: bytes.count))
    }

    private func message(_ code: UInt16, _ flags: Message.Flags = []) -> Message {
        var flags: Message.Flags = flags.union([.response, Self.recursionAvailable])
        flags.formUnion(asked.intersection(.recursionDesired))
        flags.formUnion(Message.Flags(rawValue: code))
        return Message(
            id: id, flags: flags, questions: [question],
            edns: hasEDNS ? EDNS(payloadSize: UInt16(Self.longestDatagram)) : nil)
    }

    private func written(_ message: Message) -> [UInt8] {
        if let bytes = try? message.written(limit: limit, compression: .unicast) { return bytes }
        guard limit > Self.longestDatagram else { return over }
        // There is nothing longer than TCP: of a list that has no room, as many as have.
        var (fitting, rest) = (over, message.answers.count)
        var (count, part) = (0, message)
        while rest > 1 {
            rest = (rest + 1) / 2
            part.answers = Array(message.answers.prefix(count + rest))
            if let bytes = try? part.written(limit: limit, compression: .unicast) {
                (fitting, count) = (bytes, count + rest)
            }
        }
        return fitting
    }

    /// What does not fit is asked again over TCP (TC): nothing but the question.
    package var over: [UInt8] {
        let message = message(ResponseCode.noError, [.authoritative, .truncated])
        return (try? message.written(limit: Self.longestDatagram, compression: .unicast)) ?? []
    }

    /// "Not now": the asker's budget is used up.
    package var later: [UInt8] { written(message(ResponseCode.serverFailure)) }

    /// Another server knows that.
    package var refused: [UInt8] { written(message(ResponseCode.refused)) }

    /// There is none, which may be kept for as long as the zone's SOA says (RFC 2308 §3).
    /// - Parameter isName: whether somebody has the name, or may have.
    package func none(in zone: DomainName, isName: Bool) -> [UInt8] {
        var message = message(isName ? ResponseCode.noError : ResponseCode.noSuchName, .authoritative)
        message.authorities = [Self.start(of: zone)]
        return written(message)
    }

    /// The records of the links that answer, as far as the asker can use them.
    /// - Parameter hasBelow: whether a name below this one is known: then this one is somebody's, too (RFC 8020).
    package func answer(
        _ found: [DeskRecord], to asker: DNSAsker, in zone: DomainName, hasBelow: () -> Bool = { false }
    ) -> [UInt8] {
        let records = Self.usable(
            found.filter { [question.type, .cname].contains($0.record.type) || question.type == .any }, by: asker)
        guard !records.isEmpty else {
            return none(in: zone, isName: !found.isEmpty || !question.isOfHost || hasBelow())
        }
        var message = message(ResponseCode.noError, .authoritative)
        message.answers = records
        return written(message)
    }

    private static func start(of zone: DomainName) -> ResourceRecord {
        let nobody = (try? DomainName(presentation: "nobody.invalid")) ?? .root
        let start = StartOfAuthority(
            primary: zone, mailbox: nobody, serial: 1, refresh: 3600, retry: 600, expire: 86_400, minimum: silence)
        return ResourceRecord(zone, .soa, .soa(start), ttl: silence)
    }

    /// Each once, near addresses first, a set's records with one life (RFC 2181 §5.2).
    private static func usable(_ found: [DeskRecord], by asker: DNSAsker) -> [ResourceRecord] {
        var lives: [RecordKey: UInt32] = [:]
        var seen: Set<RecordKey.Data> = []
        let good = found.filter { asker.canUse($0) }
        for item in good {
            let key = RecordKey(item.record.name, item.record.type)
            lives[key] = min(lives[key] ?? longestLife, item.record.ttl)
        }
        return (good.filter(\.isNear) + good.filter { !$0.isNear }).compactMap { item in
            let key = RecordKey(item.record.name, item.record.type)
            guard seen.insert(RecordKey.Data(key: key, data: item.record.data)).inserted else { return nil }
            return ResourceRecord(item.record.name, item.record.type, item.record.data, ttl: lives[key] ?? 0)
        }
    }
}

extension RecordKey {
    fileprivate struct Data: Hashable {
        let key: RecordKey
        let data: RecordData
    }
}

extension Question {
    /// It is about a host's name or an address, of which nobody has more than is asked for.
    fileprivate var isOfHost: Bool {
        switch type {
        case .a, .aaaa, .any, .cname: !name.labels.contains { $0.first == UInt8(ascii: "_") }
        case .ptr: name.isReverse
        default: false
        }
    }
}
