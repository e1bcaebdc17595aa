import Conformance
import DNSMessage
import DNSSD

/// How the reference is made to break a rule. A value.
struct Fault: Sendable {
    typealias Alteration = @Sendable (Packet, VirtualLink) -> [Packet]

    let rule: Int
    var hears: Alteration = { packet, _ in [packet] }
    var says: Alteration = { packet, _ in [packet] }
    var publishes: @Sendable (Service) -> Service = { $0 }
    var renames: @Sendable (String, Int) -> String = Fault.next
    var believesAll = false
    var isDeaf = false
    var forgetsConflicts = false
    var hasNamesForProcesses = false
    var endsOthers = false
    var ignoresChanges = false

    init(_ rule: Int, _ alter: (inout Fault) -> Void = { _ in }) {
        self.rule = rule
        alter(&self)
    }

    /// `tony #2`, at most 63 bytes of whole characters.
    @Sendable static func next(_ name: String, _ attempt: Int) -> String {
        var base = name
        let end = " #\(attempt)"
        while base.utf8.count + end.utf8.count > 63 { base.removeLast() }
        return base + end
    }
}

extension Packet {
    /// The same datagram with another message.
    func with(_ message: Message, _ compression: MessageWriter.Compression = .multicast) -> Packet {
        with(bytes: (try? message.written(compression: compression)) ?? [])
    }

    func with(bytes: [UInt8]) -> Packet {
        Packet(
            at: at, from: source, to: destination, hops: hops, largest: largest, fragments: fragments, bytes: bytes,
            isOurs: isOurs)
    }

    func later(_ seconds: Double) -> Packet {
        var packet = self
        packet.at += seconds
        return packet
    }

    /// With each record changed, or left out.
    func records(_ change: (ResourceRecord) -> ResourceRecord?) -> [Packet] {
        guard var message else { return [self] }
        message.answers = message.answers.compactMap(change)
        message.authorities = message.authorities.compactMap(change)
        message.additionals = message.additionals.compactMap(change)
        if message.questions.isEmpty, message.answers.isEmpty, message.additionals.isEmpty { return [] }
        return [with(message)]
    }

    /// A packet for each answer, without what goes along.
    var split: [Packet] {
        guard let message, message.flags.contains(.response), message.answers.count > 1 else { return [self] }
        return message.answers.map { answer in
            var one = message
            (one.answers, one.additionals) = ([answer], [])
            return with(one)
        }
    }
}
