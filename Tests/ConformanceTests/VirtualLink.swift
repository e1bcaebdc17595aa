import Conformance
import DNSMessage
import DNSSD
import Responder

/// The reference: responders of ours in virtual time, one for each process of a host, on a link where the suite plays the others. A fault
/// alters what they hear and what they say.
final class VirtualLink: Medium, Implementation {
    let name = "reference"
    let version = "0"
    let abilities: Set<Ability> = [.publish, .subtypes, .update, .many, .processes, .several, .host]

    static let hardware: [UInt8] = [2, 0, 0, 0, 0, 1]
    static let v4 = IPAddress.v4(IPv4Address(bits: 0x0A4D_0001))
    static let v6 = IPAddress.v6(IPv6Address(high: 0xFE80 << 48, low: 1), scope: 0)

    /// A process, and the names that its services have by now.
    private struct Process {
        var responder: LinkResponder
        var services: [UInt64: (service: Service, attempt: Int)] = [:]
        var host = 1
    }

    private var clock = VirtualClock()
    private var processes: [Int: Process] = [:]
    private var order: [Int] = []
    /// What is on its way to the host.
    private var incoming: [Packet] = []
    private var extra: [IPAddress] = []
    private var isUp = true
    var fault: Fault
    /// Counts of whatever a fault counts.
    var counts: [String: Int] = [:]
    var isDead = false
    private var seed: UInt64

    init(_ fault: Fault = Fault(0), seed: UInt64 = 1) { (self.fault, self.seed) = (fault, seed) }

    private var time: Duration { clock.time }
    var now: Double { clock.now }

    // MARK: Medium

    func send(_ packet: Packet) {
        for var heard in fault.hears(packet, self) {
            heard.at = max(heard.at, now)
            incoming.append(heard)
        }
        deliver()
    }

    func next(until limit: Double) -> Packet? {
        while true {
            collect()
            if let first = clock.take() { return first }
            let deadlines = processes.values.compactMap { $0.responder.deadline(at: time) }.map(clock.seconds(of:))
            guard clock.advance(to: (deadlines + incoming.map(\.at)).min(), within: limit) else { return nil }
            deliver()
        }
    }

    private func deliver() {
        let due = incoming.filter { $0.at <= now + 1e-9 }
        incoming.removeAll { $0.at <= now + 1e-9 }
        for packet in due {
            // What goes to the host alone reaches the program that was bound last.
            let hearing = packet.isToGroup ? order : order.suffix(1)
            for process in hearing { hear(packet, by: process, isFromHere: false) }
        }
    }

    private func hear(_ packet: Packet, by process: Int, isFromHere: Bool) {
        guard !isDead, isUp, let message = HeardMessage(packet.bytes)?.message else { return }
        let isFar = packet.source.hardware == Station.far.hardware
        let source = MessageSource(
            packet.family, from: packet.source.address, port: packet.source.port,
            to: packet.isToGroup ? .group : .machine,
            isOnLink: !isFar || fault.believesAll, isFromHere: isFromHere)
        processes[process]?.responder.heard(message, source, at: time)
    }

    /// Takes what the responders say, and what became of their names.
    private func collect() {
        for _ in 0..<100 {
            var isQuiet = true
            for number in order {
                while let fact = processes[number]?.responder.takeFacts().first(where: {
                    if case .lost = $0 { true } else { false }
                }) {
                    isQuiet = false
                    if case .lost(let id) = fact { rename(id, of: number) }
                }
                guard let due = processes[number]?.responder.deadline(at: time), due <= time else { continue }
                for packet in processes[number]?.responder.packets(at: time) ?? [] {
                    isQuiet = false
                    say(packet, of: number)
                }
            }
            if isQuiet { return }
        }
    }

    private func say(_ packet: LinkResponder.Outgoing, of number: Int) {
        guard isUp, !isDead else { return }
        let source = Packet.End(
            hardware: Self.hardware, address: packet.family == .ipv4 ? Self.v4 : Self.v6, port: 5353)
        var target = Group.end(packet.family)
        if let host = packet.host {
            target = Packet.End(hardware: [2, 0, 0, 0, 0, 2], address: host.address, port: host.port)
        }
        let size = packet.bytes.count + (packet.family == .ipv4 ? 28 : 48)
        let whole = Packet(
            at: now, from: source, to: target, largest: min(size, 1500), fragments: (size + 1471) / 1480,
            bytes: packet.bytes)
        clock.outgoing += fault.says(whole, self)
        guard packet.host == nil, !fault.isDeaf else { return }
        for other in order where other != number { hear(whole, by: other, isFromHere: true) }
    }

    /// As the registrations of the engine do it.
    private func rename(_ id: ClaimID, of number: Int) {
        if fault.forgetsConflicts, let old = processes[number] {
            processes[number]?.responder = responder()
            processes[number]?.host = old.host
            for service in old.services.keys where .service(service) != id { claim(service, of: number) }
        }
        switch id {
        case .service(let service):
            processes[number]?.services[service]?.attempt += 1
            claim(service, of: number)
        default:
            processes[number]?.host += 1
        }
        claimHost(of: number)
    }

    // MARK: Implementation

    private func responder() -> LinkResponder {
        seed += 1
        var made = LinkResponder(mtu: 1500, random: Dice(seed: seed))
        made.machine = [Self.v4, Self.v6]
        made.use([.ipv4, .ipv6], at: time)
        return made
    }

    func start(_ services: [Service]) throws {
        (counts, isDead) = ([:], false)
        for (number, mine) in Dictionary(grouping: services, by: \.process).sorted(by: { $0.key < $1.key }) {
            processes[number] = Process(responder: responder())
            order.append(number)
            claimHost(of: number)
            for service in mine {
                processes[number]?.services[UInt64(service.port)] = (fault.publishes(service), 1)
                claim(UInt64(service.port), of: number)
            }
        }
    }

    private func claimHost(of number: Int) {
        guard let process = processes[number] else { return }
        let own = fault.hasNamesForProcesses && number > 1 ? "h\(number)" : "h1"
        let label = process.host == 1 ? own : "\(own)-\(process.host)"
        guard let name = try? DomainName(presentation: "\(label).local") else { return }
        processes[number]?.responder.claim(.host, Claim(host: name, [Self.v4, Self.v6] + extra), at: time)
    }

    private func claim(_ port: UInt64, of number: Int) {
        guard let (service, attempt) = processes[number]?.services[port] else { return }
        let name = attempt == 1 ? service.name : fault.renames(service.name, attempt)
        let txt = TXTRecord(strings: service.txt)
        guard
            let offered = try? OfferedService(
                name: name, type: service.type, port: Int(service.port), txt: txt, subtypes: service.subtypes),
            let claim = Claim(offered, as: offered.name, number: port)
        else { return }
        processes[number]?.responder.claim(.service(port), claim, at: time)
    }

    func update(port: UInt16, txt: [[UInt8]]) throws {
        for number in order where processes[number]?.services[UInt64(port)] != nil {
            processes[number]?.services[UInt64(port)]?.service.txt = txt
            claim(UInt64(port), of: number)
        }
    }

    func withdraw(port: UInt16) throws {
        for number in order {
            processes[number]?.responder.withdraw(.service(UInt64(port)), at: time)
            processes[number]?.services[UInt64(port)] = nil
        }
    }

    func end(process: Int, by signal: Signal) throws {
        if signal != .KILL {
            for port in processes[process]?.services.keys.sorted() ?? [] {
                processes[process]?.responder.withdraw(.service(port), at: time)
            }
            // The host's name stays with the other processes.
            if order.count == 1 { processes[process]?.responder.withdraw(.host, at: time) }
            collect()
        }
        processes[process] = nil
        order.removeAll { $0 == process }
        if fault.endsOthers, let other = order.first {
            for port in processes[other]?.services.keys.sorted() ?? [] {
                processes[other]?.responder.withdraw(.service(port), at: time)
            }
        }
    }

    func stop() throws {
        (processes, order, clock.outgoing, incoming, extra, isUp) = ([:], [], [], [], [], true)
    }

    func change(_ change: HostChange) throws {
        guard !fault.ignoresChanges else { return }
        switch change {
        case .addAddress: extra = [.v4(IPv4Address(bits: 0x0A4D_0037))]
        case .removeAddress: extra = []
        case .link(let isUp):
            self.isUp = isUp
            if isUp { for number in order { processes[number]?.responder.restart(at: time) } }
        default: return
        }
        for number in order { claimHost(of: number) }
    }

    func browse(_ type: String) throws {}
    func shown() throws -> [Shown] { [] }

    /// Says something of its own accord.
    func forge(_ packet: Packet) { clock.outgoing.append(packet) }
    /// Hears something later.
    func hear(_ packet: Packet, after seconds: Double) {
        var later = packet
        later.at = now + seconds
        incoming.append(later)
    }
}

/// The same numbers for the same seed.
struct Dice: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func next() -> UInt64 {
        state = state &+ 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
