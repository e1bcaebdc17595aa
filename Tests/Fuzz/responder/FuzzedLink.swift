import DNSMessage
import DNSSD

/// A link with one responder, in virtual time, and what must hold there.
struct FuzzedLink {
    struct Setup: OptionSet {
        let rawValue: UInt8
        static let bothFamilies = Setup(rawValue: 1)
        static let hearsUnicast = Setup(rawValue: 2)
        static let smallPackets = Setup(rawValue: 4)
        /// A service whose name is taken gets another one.
        static let renames = Setup(rawValue: 8)
        /// All names are established before the first packet comes.
        static let isEstablished = Setup(rawValue: 16)
        /// Of one type, more services than a packet can list: slow, and so seldom.
        static let isLong = Setup(rawValue: 32 + 64)
    }

    static let machine: Set<IPAddress> = [
        .v4(IPv4Address(bits: 0x0A00_0001)), .v6(IPv6Address(high: 0xFE80 << 48, low: 1), scope: 0),
    ]

    /// What a program wants published, and how often its name was taken.
    private struct Wish {
        var taken = 0
        var port = 9000
        let name: String
        let type: String
        var subtypes: [String] = []
        var text = "b"
        var host: OfferedHost?
    }

    private let setup: Setup
    private var responder: LinkResponder
    private var now = Duration.seconds(1000)
    private var hostTaken = 0
    private var wishes: [UInt64: Wish] = [:]
    private var witness: LinkWitness
    private var steps = 0

    init(_ setup: Setup) {
        self.setup = setup
        let mtu = setup.contains(.smallPackets) ? 576 : 1500
        responder = LinkResponder(
            mtu: mtu, hearsUnicast: setup.contains(.hearsUnicast), random: FuzzRandom(state: UInt64(setup.rawValue)))
        witness = LinkWitness(limit: responder.limit)
        responder.machine = Self.machine
        responder.use(families, at: now)
        wishes = [
            1: Wish(name: "tony", type: "_witap._tcp"),
            2: Wish(name: "printer", type: "_ipp._tcp", subtypes: ["_color"], text: String(repeating: "x", count: 200)),
            3: Wish(
                name: "lamp", type: "_witap._tcp",
                host: try? OfferedHost(
                    name: HostName("lamp.local"), addresses: [.v4(IPv4Address(bits: 0x0A00_004D))])),
        ]
        if setup.contains(.isLong) {
            for number in 0..<40 as Range<UInt64> {
                wishes[10 + number] = Wish(name: "n\(number)", type: "_witap._tcp")
            }
        }
        responder.claim(.host, host, at: now)
        for number in wishes.keys.sorted() { claim(number) }
        if setup.contains(.isEstablished) { pass(.seconds(10)) }
    }

    private var families: Set<IPAddress.Family> { setup.contains(.bothFamilies) ? [.ipv4, .ipv6] : [.ipv4] }

    // MARK: Claims

    private var host: Claim {
        guard let name = DomainName([hostTaken == 0 ? "mac" : "mac-\(hostTaken + 1)"], in: .local) else {
            fatalError("no name")
        }
        return Claim(host: name, Self.machine.sorted { $0.family.rawValue < $1.family.rawValue })
    }

    /// What a service's number claims.
    private func claims(_ number: UInt64) -> [ClaimID: Claim] {
        guard let wish = wishes[number] else { return [:] }
        let name = wish.taken == 0 ? wish.name : "\(wish.name) #\(wish.taken + 1)"
        guard
            var service = try? OfferedService(
                name: name, type: wish.type, port: wish.port, txt: ["a": wish.text], subtypes: wish.subtypes)
        else { fatalError("no service") }
        service.host = wish.host
        if wish.host?.addresses.isEmpty == false { service.original = try? HostName("z.local") }
        guard let claim = Claim(service, as: service.name, number: number) else { fatalError("no claim") }
        var claims: [ClaimID: Claim] = [.service(number): claim]
        if let host = wish.host, let name = try? DomainName(presentation: host.name.text) {
            claims[.other(number)] = Claim(other: name, host.addresses, over: nil)
        }
        return claims
    }

    private var wanted: [ClaimID: Claim] { wishes.keys.reduce(into: [.host: host]) { $0.merge(claims($1)) { $1 } } }

    private mutating func claim(_ number: UInt64) {
        for (id, claim) in claims(number) { responder.claim(id, claim, at: now) }
    }

    /// As a gateway does: it withholds the service.
    private mutating func gaveWay(_ id: ClaimID) {
        guard case .service(let number) = id, let name = wanted[id]?.original else {
            fatalError("\(id) gives way to nobody")
        }
        check(
            name.presentation == "z.local"
                && wanted[id].map { witness.denied.union(witness.wanted).contains($0.name) } == true,
            "\(id) gave way, and nobody wanted it")
        wishes[number] = nil
        responder.withdraw(.other(number), at: now)
    }

    /// As a publication does: the machine goes on under another name, and a service by its policy.
    private mutating func lost(_ id: ClaimID) {
        switch id {
        case .host:
            hostTaken += 1
            responder.claim(.host, host, at: now)
        case .firstName: fatalError("it has its first name, or asks for none")
        case .service(let number) where setup.contains(.renames):
            wishes[number]?.taken += 1
            claim(number)
        case .service(let number), .other(let number):
            wishes[number] = nil
            responder.withdraw(.service(number), at: now)
            responder.withdraw(.other(number), at: now)
        }
    }

    private mutating func make(_ change: FuzzInput.Change, _ isOdd: Bool) {
        witness.changes(at: now)
        switch change {
        case .update:
            wishes[1]?.port = isOdd ? 9000 : 9001
            claim(1)
        case .restart: responder.restart(at: now)
        case .families: responder.use(isOdd ? families : [.ipv4], at: now)
        case .again: responder.announceAgain(at: now)
        }
    }

    // MARK: Time

    mutating func take(_ step: FuzzInput.Step) {
        pass(step.gap)
        if let change = step.change { make(change, !step.packet.count.isMultiple(of: 2)) }
        guard let heard = HeardMessage(step.packet) else { return }
        witness.hears(heard.message, step.arrival, at: now)
        responder.heard(heard.message, step.arrival, at: now)
        collect()
        steps += 1
        if steps.isMultiple(of: 16) { witness.measures(responder) }
    }

    /// When the link is quiet, all names are held that are still wanted, and are answered for.
    mutating func end() {
        witness.measures(responder)
        responder.use(families, at: now)
        pass(.seconds(30))
        let neighbour = IPAddress.v4(IPv4Address(bits: 0x0A00_00FE))
        check(wanted == responder.claims.mapValues(\.claim), "not what is wanted: \(responder.claims.keys)")
        let records = responder.claims.values.flatMap { held in
            let records = held.claim.records(host: responder.hostName)
            return records.unique + records.shared + records.negative + records.quiet
        }
        check(Set(records).count == responder.owned.count, "it answers with \(responder.owned.count) records")
        for (id, held) in responder.claims.sorted(by: { $0.key < $1.key }) {
            guard case .told = held.stage else { fatalError("\(id) is not held in the end") }
            let claim = held.claim
            let question = Message(questions: [Question(claim.name, .any)])
            let arrival = MessageSource(.ipv4, from: neighbour)
            witness.hears(question, arrival, at: now)
            witness.forget()
            responder.heard(question, arrival, at: now)
            pass(.seconds(1))
            let expected = claim.records(host: responder.hostName).unique
            check(expected.allSatisfy(witness.said), "no answer for \(claim.name)")
        }
        witness.measures(responder)
    }

    /// Lets time pass, and has everything happen when it is due.
    private mutating func pass(_ duration: Duration) {
        let end = now + duration
        collect()
        while let due = responder.deadline(at: now), due <= end {
            now = max(now, due)
            collect()
        }
        now = end
    }

    private mutating func collect() {
        var turns = 0
        while let due = responder.deadline(at: now), due <= now {
            turns += 1
            check(turns < 100, "it never comes to rest")
            for fact in responder.takeFacts() {
                switch fact {
                case .established: break
                case .lost(let id):
                    check(
                        wanted[id].map { witness.denied.contains($0.name) } ?? true,
                        "\(id) was given up, and nobody denied it")
                    lost(id)
                case .gaveWay(let id): gaveWay(id)
                }
            }
            for packet in responder.packets(at: now) { witness.sees(packet, at: now) }
        }
    }
}
