import Conformance
import DNSMessage
import DNSSD
import Testing

/// How a reference is made to break a rule. A value.
protocol RuleBreaking: Sendable {
    associatedtype Reference: Medium & Implementation
    typealias Alteration = @Sendable (Packet, Reference) -> [Packet]

    var rule: Int { get }
    /// What becomes of what it hears, and says.
    var hears: Alteration { get set }
    var says: Alteration { get set }

    init(_ rule: Int, _ alter: (inout Self) -> Void)
}

extension RuleBreaking {
    static func says(_ rule: Int, _ alter: @escaping Alteration) -> Self { Self(rule) { $0.says = alter } }
    static func hears(_ rule: Int, _ alter: @escaping Alteration) -> Self { Self(rule) { $0.hears = alter } }

    /// Changes one message of what is said, or heard.
    static func said(_ rule: Int, _ change: @escaping @Sendable (inout Message) -> Void) -> Self {
        says(rule) { packet, _ in packet.changed(change) }
    }
    static func heard(_ rule: Int, _ change: @escaping @Sendable (inout Message) -> Void) -> Self {
        hears(rule) { packet, _ in packet.changed(change) }
    }

    /// Changes records of what is said, or heard; nil leaves them out.
    static func saysRecords(
        _ rule: Int, _ change: @escaping @Sendable (ResourceRecord) -> ResourceRecord?
    ) -> Self { says(rule) { packet, _ in packet.records(change) } }
    static func hearsRecords(
        _ rule: Int, _ change: @escaping @Sendable (ResourceRecord) -> ResourceRecord?
    ) -> Self { hears(rule) { packet, _ in packet.records(change) } }

    /// Does not hear some messages.
    static func deaf(_ rule: Int, to isIt: @escaping @Sendable (Packet) -> Bool) -> Self {
        hears(rule) { packet, _ in isIt(packet) ? [] : [packet] }
    }
}

/// What the suite says of a reference.
func verdict<Reference: Medium & Implementation>(
    _ number: Int, of rules: [Rule], on reference: Reference
) throws -> Verdict {
    let rule = try #require(rules.first { $0.number == number })
    return try Bench(reference, reference).judge(rule)
}

/// Expects that a rule does not hold for a reference.
func expectBroken<Reference: Medium & Implementation>(
    _ number: Int, of rules: [Rule], on reference: Reference
) throws {
    guard case .broken = try verdict(number, of: rules, on: reference) else {
        Issue.record("rule \(number) holds for a reference that breaks it")
        return
    }
}

/// How the responder's reference is made to break a rule. A value.
struct Fault: RuleBreaking {
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

    func changed(_ change: (inout Message) -> Void) -> [Packet] {
        guard var message else { return [self] }
        change(&message)
        return [with(message)]
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
