import DNSMessage
import DNSSD
import Discovery
import LocalNames
import MulticastEngine
import Testing

/// Queries of unicast DNS, and what they are answered.
@Suite("DNS for names of the link")
struct DNSQueryTests {
    static func name(_ text: String) throws -> DomainName { try DomainName(presentation: text) }

    private static let bridge = NetworkInterface(index: 3, name: "br0")

    static func networks() throws -> OwnNetworks {
        func place(_ index: UInt32, _ name: String, _ text: String, _ length: Int) throws -> AddressBlock {
            let address = try #require(IPAddress(text))
            let block = try #require(CIDR(containing: address, prefixLength: length))
            return AddressBlock(NetworkInterface(index: index, name: name), address, block)
        }
        return OwnNetworks([
            try place(1, "lo", "127.0.0.1", 8), try place(2, "eth0", "10.77.0.2", 20),
            try place(2, "eth0", "fd00::2", 64), try place(3, "br0", "172.17.0.1", 16),
        ])
    }

    private static func bytes(
        _ text: String, _ type: RecordType, edns: UInt16? = nil, flags: Message.Flags = [.recursionDesired]
    ) throws -> [UInt8] {
        let message = Message(
            id: 0x1234, flags: flags, questions: [Question(try name(text), type)],
            edns: edns.map { EDNS(payloadSize: $0) })
        return try message.written(compression: .unicast)
    }

    private static func query(
        _ text: String, _ type: RecordType, edns: UInt16? = nil, by transport: DNSQuery.Transport = .datagram
    ) throws -> DNSQuery {
        guard case .query(let query) = DNSQuery.read(try bytes(text, type, edns: edns), by: transport) else {
            throw MessageError.truncated
        }
        return query
    }

    private static func found(
        _ owner: String, _ type: RecordType, _ data: RecordData, ttl: UInt32 = 100, isNear: Bool = true
    ) throws -> DeskRecord {
        DeskRecord(
            ResourceRecord(try name(owner), type, data, ttl: ttl), on: NetworkInterface(index: 2, name: "eth0"),
            isNear: isNear)
    }

    private static func address(
        _ owner: String, _ text: String, ttl: UInt32 = 100, isNear: Bool = true
    ) throws -> DeskRecord {
        let (type, data) = try #require(IPAddress(text)).record
        return try found(owner, type, data, ttl: ttl, isNear: isNear)
    }

    @Test("what the links are asked, and what nobody is")
    func subjects() throws {
        let networks = try Self.networks()
        func subject(_ text: String, _ type: RecordType) throws -> DNSSubject {
            networks.subject(of: Question(try Self.name(text), type))
        }
        let local = try Self.name("local")
        func links(_ request: RecordRequest, _ wanted: RecordType, _ zone: DomainName) -> DNSSubject {
            .links(request, wanted: wanted, zone: zone)
        }
        let host = RecordRequest.addresses(of: try Self.name("h1.local"))
        #expect(try subject("H1.Local", .a) == links(host, .a, local))
        #expect(try subject("h1.local", .aaaa) == links(host, .aaaa, local))
        #expect(try subject("h1.local", .any) == links(host, .a, local))
        let service = RecordRequest(try Self.name("Web._http._tcp.local"), [.srv, .txt])
        #expect(try subject("Web._http._tcp.local", .txt) == links(service, .txt, local))
        #expect(try subject("Web._http._tcp.local", .any) == links(service, .srv, local))
        let list = RecordRequest.list(of: try Self.name("_http._tcp.local"))
        #expect(try subject("_http._tcp.local", .ptr) == links(list, .ptr, local))
        #expect(try subject("_http._tcp.local", .any) == links(list, .ptr, local))
        for (text, type) in [
            ("local", RecordType.soa), ("local", .any), ("h1.local", .soa), ("h1.local", RecordType(rawValue: 65)),
        ] {
            #expect(try subject(text, type) == .nothing(zone: local), "\(text) \(type)")
        }
        // 10.77.0.0/20 has sixteen zones.
        let reverse = try Self.name("9.15.77.10.in-addr.arpa")
        let zone = try Self.name("15.77.10.in-addr.arpa")
        #expect(try subject("9.15.77.10.in-addr.arpa", .ptr) == links(RecordRequest(reverse, [.ptr]), .ptr, zone))
        #expect(try subject("15.77.10.in-addr.arpa", .soa) == .nothing(zone: zone))
        let six = "2." + String(repeating: "0.", count: 15)
        let network = String(repeating: "0.", count: 12) + "0.0.d.f.ip6.arpa"
        #expect(
            try subject("\(six)\(network)", .ptr)
                == links(RecordRequest(try Self.name("\(six)\(network)"), [.ptr]), .ptr, try Self.name(network)))
        for text in [
            "example.com", "local.example", "www.example.local.com", ".", "16.77.10.in-addr.arpa", "77.10.in-addr.arpa",
            "9.16.77.10.in-addr.arpa", "1.0.0.127.in-addr.arpa", "x.9.15.77.10.in-addr.arpa",
            "09.15.77.10.in-addr.arpa",
            "9.+15.77.10.in-addr.arpa", "256.15.77.10.in-addr.arpa", "in-addr.arpa", "8.b.d.0.1.0.0.2.ip6.arpa",
        ] {
            #expect(try subject(text, .ptr) == .foreign, "\(text)")
        }
        #expect(
            networks.subject(of: Question(try Self.name("h1.local"), .a, recordClass: RecordClass(rawValue: 3)))
                == .foreign)
    }

    @Test("who may ask: this machine, and neighbours by their interface")
    func askers() throws {
        let networks = try Self.networks()
        func asker(_ source: String, _ own: String, _ interface: UInt32?) throws -> DNSAsker? {
            networks.asker(try #require(IPAddress(source)), at: try #require(IPAddress(own)), over: interface)
        }
        #expect(try asker("127.0.0.1", "127.0.0.55", 1) == .thisMachine)
        #expect(try asker("172.17.0.1", "172.17.0.1", 1) == .thisMachine)
        let container = try #require(IPAddress("172.17.0.9"))
        #expect(try asker("172.17.0.9", "172.17.0.1", 3) == .neighbour(container, Self.bridge))
        #expect(try asker("::ffff:172.17.0.9", "172.17.0.1", nil) == .neighbour(container, Self.bridge))
        // A source that is not behind the interface is forged.
        #expect(try asker("172.17.0.9", "172.17.0.1", 2) == nil)
        #expect(try asker("10.77.0.9", "172.17.0.1", 2) == nil)
        #expect(try asker("192.0.2.1", "172.17.0.1", nil) == nil)
        #expect(try asker("172.17.0.9", "127.0.0.55", 1) == nil)
        #expect(try asker("172.17.0.9", "172.17.0.5", 3) == nil)
        #expect(try asker("127.0.0.1", "127.0.0.55", 2) == nil)
        // Whoever has this machine's address, and is not here.
        #expect(
            try asker("172.17.0.1", "172.17.0.1", 3) == .neighbour(try #require(IPAddress("172.17.0.1")), Self.bridge))
        let own = try #require(IPAddress("fd00::2"))
        #expect(try asker("fd00::2", "fd00::2", 2) == .neighbour(own, NetworkInterface(index: 2, name: "eth0")))
        #expect(try asker("fd00::2", "fd00::2", 3) == nil)
        #expect(try asker("fd00::2", "fd00::2", nil) == .thisMachine)
    }

    @Test("a neighbour is told of this machine what is on its own link, by whatever name; of others all")
    func far() throws {
        let networks = try Self.networks()
        let neighbour = DNSAsker.neighbour(try #require(IPAddress("172.17.0.9")), Self.bridge)
        let far = try ["10.77.0.2", "fd00::2"].map { try Self.address("wiki.local", $0) }
        let near = [try Self.address("wiki.local", "172.17.0.1"), try Self.address("h1.local", "10.77.0.1")]
        #expect(networks.told(far + near, to: neighbour).map(\.record) == near.map(\.record))
        #expect(networks.told(far + near, to: .thisMachine).count == 4)
        let name = try Self.found("2.0.77.10.in-addr.arpa", .ptr, .ptr(try Self.name("h2.local")))
        #expect(networks.told([name], to: neighbour).isEmpty && networks.told([name], to: .thisMachine).count == 1)
    }

    @Test("an answer: the question as it was asked, lives that count down in a set and end, what the asker can use")
    func answers() throws {
        let query = try Self.query("H1.local", .aaaa, edns: 4096)
        let records = [
            try Self.address("h1.local", "2001:db8::1", ttl: 4500, isNear: false),
            try Self.address("h1.local", "fd00::1", ttl: 90), try Self.address("h1.local", "fd00::1", ttl: 60),
            try Self.address("h1.local", "fe80::1"), try Self.address("h1.local", "::1"),
            try Self.address("h1.local", "10.77.0.1"),
        ]
        let bytes = query.answer(records, to: .thisMachine, in: try Self.name("local"))
        let message = try Message(reading: bytes)
        #expect(message.id == 0x1234 && message.flags.rawValue == 0x8580)
        #expect(message.questions.first?.name.presentation == "H1.local")
        #expect(message.answers.map(\.dataText) == ["fd00::1", "2001:db8::1"])
        #expect(message.answers.map(\.ttl) == [60, 60] && message.edns?.payloadSize == 1232)
        let alias = try Self.found("wiki.local", .cname, .cname(try Self.name("h1.local")), ttl: 4500)
        let named = try Self.query("wiki.local", .a)
        let both = try Message(
            reading: named.answer([alias, records[5]], to: .thisMachine, in: try Self.name("local")))
        #expect(both.answers.map(\.type) == [.cname, .a] && both.answers.map(\.ttl) == [120, 100] && both.edns == nil)
    }

    @Test("link-local addresses of IPv4 are of use here alone")
    func linkLocal() throws {
        let item = try Self.address("h1.local", "169.254.7.7")
        let query = try Self.query("h1.local", .a)
        let neighbour = DNSAsker.neighbour(try #require(IPAddress("172.17.0.9")), Self.bridge)
        let local = try Self.name("local")
        #expect(try Message(reading: query.answer([item], to: .thisMachine, in: local)).answers.count == 1)
        let none = try Message(reading: query.answer([item], to: neighbour, in: local))
        #expect(
            none.answers.isEmpty && none.responseCode == ResponseCode.noError && none.authorities.first?.type == .soa)
    }

    @Test("there is none: with the zone's SOA for as long as silence counts, NXDOMAIN of hosts and addresses alone")
    func none() throws {
        let local = try Self.name("local")
        func none(_ text: String, _ type: RecordType, _ found: [DeskRecord] = []) throws -> Message {
            try Message(reading: try Self.query(text, type).answer(found, to: .thisMachine, in: local))
        }
        // Who has a name below it has it, too.
        let names = AncestorNames(of: [try HostName("a.shop.wiki.local"), try HostName("h1.local")])
        for (text, isThere) in [
            ("shop.wiki.local", true), ("WIKI.local", true), ("a.shop.wiki.local", false), ("local", false),
            ("h1.local", false),
        ] {
            let query = try Self.query(text, .a)
            let name = try Self.name(text)
            let answer = query.answer([], to: .thisMachine, in: local, hasBelow: { names.contains(name) })
            let code = isThere ? ResponseCode.noError : ResponseCode.noSuchName
            #expect(try Message(reading: answer).responseCode == code, "\(text)")
        }
        let nobody = try none("nobody.local", .a)
        #expect(nobody.responseCode == ResponseCode.noSuchName && nobody.flags.contains(.authoritative))
        guard case .soa(let start)? = nobody.authorities.first?.data else { throw MessageError.truncated }
        #expect(nobody.authorities.first?.ttl == 5 && start.minimum == 5 && nobody.authorities.first?.name == local)
        #expect(
            try none("h1.local", .a, [try Self.address("h1.local", "fd00::1")]).responseCode == ResponseCode.noError)
        #expect(try none("1.0.77.10.in-addr.arpa", .ptr).responseCode == ResponseCode.noSuchName)
        for (text, type) in [
            ("_http._tcp.local", RecordType.ptr), ("Web._http._tcp.local", .a), ("h1.local", .srv),
            ("_tcp.local", .any),
        ] {
            #expect(try none(text, type).responseCode == ResponseCode.noError, "\(text) \(type)")
        }
        let bank = try Self.found("1.0.77.10.in-addr.arpa", .ptr, .ptr(try Self.name("bank.example")))
        #expect(try none("1.0.77.10.in-addr.arpa", .ptr, [bank]).answers.isEmpty)
    }

    @Test("what does not fit has TC and no record; over TCP it is whole")
    func truncated() throws {
        let many = try (0..<300).map {
            try Self.found("_http._tcp.local", .ptr, .ptr(try Self.name("s\($0)._http._tcp.local")))
        }
        let local = try Self.name("local")
        for (edns, count, limit) in [
            (UInt16?.none, 20, 512), (512, 20, 512), (0, 20, 512), (65_535, 60, 1232), (1232, 60, 1232),
        ] {
            let query = try Self.query("_http._tcp.local", .ptr, edns: edns)
            let over = query.answer(many, to: .thisMachine, in: local)
            let cut = try Message(reading: over)
            #expect(cut.flags.contains(.truncated) && cut.answers.isEmpty && over.count <= 50)
            let whole = query.answer(Array(many.prefix(count)), to: .thisMachine, in: local)
            #expect(try Message(reading: whole).answers.count == count && whole.count <= limit)
        }
        let stream = try Self.query("_http._tcp.local", .ptr, by: .stream)
        #expect(try Message(reading: stream.answer(many, to: .thisMachine, in: local)).answers.count == 300)
        let long = try (1000..<2000).map { number in
            let name = String(repeating: "x", count: 59) + String(number) + "._http._tcp.local"
            return try Self.found("_http._tcp.local", .ptr, .ptr(try Self.name(name)))
        }
        let most = try Message(reading: stream.answer(long, to: .thisMachine, in: local))
        #expect(most.answers.count > 800 && !most.flags.contains(.truncated), "\(most.answers.count)")
    }

    @Test("what is no query is not answered; what is wrong is, in as many bytes as it has")
    func faults() throws {
        let good = try Self.bytes("h1.local", .a)
        #expect(DNSQuery.read([], by: .datagram) == .ignored)
        #expect(DNSQuery.read(Array(good.prefix(11)), by: .datagram) == .ignored)
        #expect(DNSQuery.read(good + Array(repeating: 0, count: 4096), by: .stream) == .ignored)
        #expect(DNSQuery.read(try Self.bytes("h1.local", .a, flags: [.response]), by: .datagram) == .ignored)
        func code(_ bytes: [UInt8]) throws -> UInt16? {
            guard case .faulty(let answer) = DNSQuery.read(bytes, by: .datagram) else { return nil }
            #expect(answer.count <= bytes.count && answer[0] == 0x12 && answer[1] == 0x34)
            return try Message(reading: answer).responseCode
        }
        var update = good
        update[2] = 5 << 3
        #expect(try code(update) == ResponseCode.notImplemented)
        #expect(try code(Array(good.dropLast())) == ResponseCode.formatError)
        var loop = good
        (loop[12], loop[13]) = (0xC0, 12)
        #expect(try code(loop) == ResponseCode.formatError)
        var two = good
        two[5] = 2
        #expect(try code(two) == ResponseCode.formatError)
        #expect(try code(Message(id: 0x1234).written(compression: .unicast)) == ResponseCode.formatError)
        let later = Message(
            id: 0x1234, questions: [Question(try Self.name("h1.local"), .a)], edns: EDNS(payloadSize: 512, version: 1))
        #expect(try code(later.written(compression: .unicast)) == 16)
    }

    @Test("queries that wait and long answers are bounded, each asker's and all")
    func budgets() throws {
        var budgets = DNSBudgets()
        let askers = try (0..<8).map { DNSAsker.neighbour(try #require(IPAddress("172.17.0.\($0 + 2)")), Self.bridge) }
        var begun = 0
        for asker in askers { for _ in 0..<1000 where budgets.begin(asker) { begun += 1 } }
        #expect(begun == 384)
        for _ in 0..<128 { budgets.end(askers[0]) }
        budgets.end(askers[0])
        #expect((0..<1000).count { _ in budgets.begin(.thisMachine) } == 128)
        #expect((0..<5000).count { _ in budgets.mayBeLong(for: askers[0], at: .zero) } == 500)
        #expect(budgets.mayBeLong(for: askers[1], at: .zero) && budgets.mayBeLong(for: askers[0], at: .seconds(1)))
        #expect((0..<5000).allSatisfy { _ in budgets.mayBeLong(for: .thisMachine, at: .zero) })
    }
}
