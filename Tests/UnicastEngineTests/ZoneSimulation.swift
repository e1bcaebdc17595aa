import DNSMessage
import DNSSD
import Discovery
import Glibc
import Testing

@testable import UnicastEngine

/// How often a property is tried: so often only in `make test-all`.
func rounds(_ all: Int) -> Int { getenv("TEST_ALL") == nil ? max(1, all / 5) : all }

/// Publishers, one server, and a network between them that loses, delays and repeats, in virtual time.
struct ZoneSimulation {
    struct Publisher {
        var rules: ZonePublisher
        /// What each registration was last said to be.
        var facts: [Int: PublicationFact] = [:]
        var services: [Int: OfferedService] = [:]
        var gone: Set<Int> = []
        /// It does nothing, as a process that is stopped.
        var isStalled = false
        var isAlive = true
        /// It may have lost what it held: it was stalled, or the zone became an older one.
        var mayHaveLost = false
    }

    private enum Event {
        case turn(Int)
        case arrive(Int, Int, ZoneRequest, answers: Bool)
        case answer(Int, Int, ZoneReply)
    }

    var now = Duration.zero
    var zone = ScriptedZone()
    var publishers: [Publisher] = []
    var random: SeededGenerator
    /// How many of 100 messages are lost, on each way.
    var loss = 0
    /// What every message takes besides, on each way.
    var latency = Duration.zero
    /// How many of 100 arrive twice.
    var repeats = 0
    var isServerUp = true
    var updates = 0
    /// The server hears everything, and nobody hears the server.
    var losesAnswers = false
    /// How often the server was asked for each name.
    var asked: [DomainName: Int] = [:]
    private var events: [(at: Duration, number: Int, event: Event)] = []
    private var lastEvent = 0
    private var turnAt: [Int: Duration] = [:]

    static let silence = Duration.seconds(4)

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    static func layout(_ domain: String = "home.example.org") throws -> ZoneLayout {
        try #require(ZoneLayout(try Domain(domain)))
    }

    mutating func add(
        _ id: PublisherID, isKnown: Bool = false, host: String, lease: Int = 40, address: UInt32 = 0
    ) throws -> Int {
        var rules = ZonePublisher(
            try Self.layout(), id: id, isKnown: isKnown, host: host, ttl: 60, leaseSeconds: lease, seed: random.next())
        let bits = address == 0 ? 0x0A00_0001 + UInt32(publishers.count) : address
        rules.addressesBecame([.v4(IPv4Address(bits: bits))])
        publishers.append(Publisher(rules: rules))
        return publishers.count - 1
    }

    @discardableResult
    mutating func publish(
        _ name: String, type: String = "_http._tcp", by index: Int, subtypes: [String] = [],
        onConflict: ConflictPolicy = .rename, isPersistent: Bool = false
    ) throws -> Int {
        let service = try OfferedService(
            name: name, type: type, domain: "home.example.org", port: 9000, subtypes: subtypes)
        return publish(service, by: index, onConflict: onConflict, isPersistent: isPersistent)
    }

    mutating func publish(
        _ service: OfferedService, by index: Int, onConflict: ConflictPolicy = .rename, isPersistent: Bool = false
    ) -> Int {
        let number = publishers[index].rules.publish(service, onConflict: onConflict, isPersistent: isPersistent)
        publishers[index].services[number] = service
        turn(index)
        return number
    }

    mutating func withdraw(_ number: Int, by index: Int) {
        publishers[index].rules.withdraw(number)
        publishers[index].services[number] = nil
        publishers[index].facts[number] = nil
        turn(index)
    }

    mutating func crash(_ index: Int) {
        publishers[index].isAlive = false
        publishers[index].facts = [:]
        publishers[index].services = [:]
    }

    mutating func turn(_ index: Int) {
        guard publishers[index].isAlive, !publishers[index].isStalled else { return }
        for step in publishers[index].rules.next(now) {
            switch step {
            case .report(let number, let fact):
                if publishers[index].services[number] != nil { publishers[index].facts[number] = fact }
            case .gone(let number): publishers[index].gone.insert(number)
            case .request(let ticket, let request): send(index, ticket, request)
            }
        }
        let deadline = publishers[index].rules.deadline
        guard deadline != turnAt[index] else { return }
        turnAt[index] = deadline
        if let deadline { schedule(.turn(index), at: deadline) }
    }

    private mutating func send(_ index: Int, _ ticket: Int, _ request: ZoneRequest) {
        if case .update = request { updates += 1 }
        let isLost = Int.random(in: 0..<100, using: &random) < loss
        if isLost {
            schedule(.answer(index, ticket, .outcome(.unheard("silence"))), at: now + Self.silence)
        } else {
            schedule(.arrive(index, ticket, request, answers: true), at: now + delay())
        }
        if Int.random(in: 0..<100, using: &random) < repeats {
            schedule(.arrive(index, ticket, request, answers: false), at: now + delay() * 4)
        }
    }

    private mutating func delay() -> Duration { latency + .milliseconds(Int64.random(in: 1...800, using: &random)) }

    private mutating func schedule(_ event: Event, at time: Duration) {
        lastEvent += 1
        let place = events.firstIndex { $0.at > time } ?? events.endIndex
        events.insert((time, lastEvent, event), at: place)
    }

    /// Lets time pass.
    mutating func run(for duration: Duration) {
        let end = now + duration
        while let first = events.first, first.at <= end {
            events.removeFirst()
            now = max(now, first.at)
            switch first.event {
            case .turn(let index):
                guard turnAt[index] == first.at else { continue }
                turnAt[index] = nil
                turn(index)
            case .arrive(let index, let ticket, let request, let answers):
                let isHeard = isServerUp && Int.random(in: 0..<100, using: &random) >= loss
                let reply = isServerUp ? zone.carryOut(request) : nil
                if isServerUp, case .ask(let name, _) = request { asked[name, default: 0] += 1 }
                if case .update = request { checkHeld() }
                guard answers else { continue }
                if isHeard, !losesAnswers, let reply {
                    schedule(.answer(index, ticket, reply), at: now + delay())
                } else {
                    schedule(.answer(index, ticket, .outcome(.unheard("silence"))), at: now + Self.silence)
                }
            case .answer(let index, let ticket, let reply):
                guard publishers[index].isAlive else { continue }
                if publishers[index].isStalled {
                    schedule(first.event, at: now + .seconds(1))
                } else {
                    publishers[index].rules.received(reply, to: ticket, now)
                    turn(index)
                }
            }
        }
        now = end
    }

    /// What a publisher was told to be established is there, at every moment, unless it slept too long.
    private func checkHeld() {
        for publisher in publishers where publisher.isAlive && !publisher.isStalled && !publisher.mayHaveLost {
            for (number, fact) in publisher.facts where fact.state == .established {
                guard let service = publisher.services[number] else { continue }
                #expect(has(service, as: fact.name, id: publisher.rules.id), "lost: \(fact.name) at \(now)")
            }
        }
    }

    func has(_ service: OfferedService, as name: ServiceName, id: PublisherID) -> Bool {
        guard let names = InstanceNames(service, as: name) else { return false }
        func records(_ name: DomainName, _ type: RecordType) -> Set<RecordData> {
            zone.records[.init(name: name, type: type)] ?? []
        }
        // Of an alias that somebody else has written nothing is this publisher's.
        guard !service.isAlias else {
            return !records(names.instance, .a).isEmpty
                && [[], [id.ownership(of: names.instance)]].contains(records(names.instance, .dhcid))
        }
        return records(names.instance, .dhcid) == [id.ownership(of: names.instance)]
            && records(names.instance, .srv).count == 1 && records(names.instance, .txt).count == 1
            && ([names.list] + names.subtypes).allSatisfy { records($0, .ptr).contains(.ptr(names.instance)) }
    }
}
