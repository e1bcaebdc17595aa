import DNSMessage
import DNSSD
import MulticastEngine
import Testing

@Suite("A cache that someone fills")
struct CrowdedCacheTests {
    private let attacker = PacketSource(1)
    private let honest = PacketSource(2)
    private let other = PacketSource(3)
    private let services = Numbered()
    private let list = RecordKey(DomainName(text: "_witap._tcp.local"), .ptr)
    private let now = Duration.seconds(100)

    /// A cache whose list has room for 64 names.
    private func cache() -> RecordCache {
        var limits = RecordCache.Limits()
        limits.sharedRecords = 64
        return RecordCache(limits: limits, seed: 1)
    }

    private func pointers(_ numbers: Range<Int>) -> [ResourceRecord] { numbers.map { services.pointer($0) } }

    /// The numbers of the services in the list.
    private func listed(_ cache: RecordCache, in numbers: Range<Int>) -> [Int] {
        numbers.filter { cache.has(list, .ptr(services.name($0))) }
    }

    @Test("Names that no one answers for give way to a service, and do not come back while there is little room")
    func newcomer() {
        var cache = cache()
        #expect(cache.receive(pointers(0..<100), from: attacker, at: now).count == 64)
        #expect(cache.isFull)
        let later = now + .milliseconds(500)
        let changes = cache.receive(services.all(500), from: honest, at: later)
        #expect(changes.contains(.added(list, .ptr(services.name(500)))))
        // An eighth gives way.
        #expect(listed(cache, in: 0..<100).count == 56)
        #expect(cache.receive(pointers(100..<200), from: attacker, at: later).isEmpty)
        #expect(cache.isFull)
        // The same from the attacker's own address, which may be a shared one.
        _ = cache.receive(services.all(501), from: attacker, at: later)
        #expect(cache.has(list, .ptr(services.name(501))))
    }

    @Test("A newcomer of whom nothing is known has its share, and leaves half of the room to others")
    func bareNewcomers() {
        var cache = cache()
        _ = cache.receive(pointers(0..<100), from: attacker, at: now)
        _ = cache.receive(pointers(200..<300), from: honest, at: now)
        #expect(listed(cache, in: 200..<300).count == 4)
        _ = cache.receive(pointers(300..<400), from: other, at: now)
        #expect(listed(cache, in: 300..<400).count == 2)
        // A second later who has most gives way again.
        _ = cache.receive(pointers(400..<420), from: other, at: now + .seconds(1))
        _ = cache.receive(pointers(500..<520), from: PacketSource(4), at: now + .seconds(1))
        #expect(!listed(cache, in: 500..<520).isEmpty)
        #expect(listed(cache, in: 200..<400).count == 6)
    }

    @Test("Whoever answers for all of it keeps no more than others who do")
    func answered() {
        var cache = cache()
        for number in 0..<20 { _ = cache.receive(services.all(number), from: honest, at: now) }
        for number in 100..<200 { _ = cache.receive(services.all(number), from: attacker, at: now) }
        #expect(listed(cache, in: 0..<200).count == 64)
        _ = cache.receive(services.all(500), from: other, at: now)
        #expect(listed(cache, in: 500..<501) == [500])
        #expect(listed(cache, in: 0..<20).count == 20)
    }

    @Test("Many sources of names that no one answers for do not displace a service")
    func manySources() {
        var cache = cache()
        for number in 0..<20 { _ = cache.receive(services.all(number), from: honest, at: now) }
        for number in 100..<1000 {
            let source = PacketSource(UInt32(number))
            _ = cache.receive(pointers(number..<number + 1), from: source, at: now + .milliseconds(10 * number))
        }
        #expect(listed(cache, in: 0..<20).count == 20)
        #expect(listed(cache, in: 0..<1000).count <= 64)
    }

    @Test("More sources of services than there is room for: those that are there stay")
    func moreSourcesThanRoom() {
        var cache = cache()
        var known: Set<PacketSource> = []
        let sources = (0..<1000).map { PacketSource(UInt32($0)) }.filter { known.insert($0).inserted }
        for (number, source) in sources.prefix(200).enumerated() {
            _ = cache.receive(services.all(number), from: source, at: now + .seconds(2 * number))
            #expect(listed(cache, in: 0..<200).count == min(number + 1, 64))
        }
    }

    @Test("A cache full of watched records has room for another host's")
    func watched() throws {
        var limits = RecordCache.Limits()
        limits.records = 64
        var cache = RecordCache(limits: limits, seed: 1)
        let hosts = try (0..<100).map { RecordKey(try DomainName("h\($0).local"), .a) }
        let isWatched = { (key: RecordKey) in hosts.contains(key) }
        func address(_ number: Int) -> ResourceRecord { ResourceRecord(hosts[number].name, .a, .a(1), ttl: 120) }
        _ = cache.receive((0..<4).map(address), from: honest, at: now, isWatched: isWatched)
        _ = cache.receive((4..<99).map(address), from: attacker, at: now, isWatched: isWatched)
        #expect(cache.count == 64 && cache.isFull)
        #expect(
            cache.receive([address(99)], from: other, at: now, isWatched: isWatched).contains(.added(hosts[99], .a(1))))
        #expect((0..<4).allSatisfy { cache.has(hosts[$0], .a(1)) })
        _ = cache.receive((70..<90).map(address), from: attacker, at: now, isWatched: isWatched)
        #expect(cache.count < 64)
        // With room again, everyone may add.
        _ = cache.advance(to: now + .seconds(121))
        #expect(!cache.isFull)
        #expect(
            cache.receive((4..<20).map(address), from: attacker, at: now + .seconds(122), isWatched: isWatched).count
                == 16)
    }

    @Test("Of names that no one answers for a source's first thousand are listed as known, and every service is")
    func knownAnswers() {
        var cache = RecordCache(seed: 1)
        _ = cache.receive(pointers(0..<3000), from: attacker, at: now)
        #expect(cache.knownAnswers(list, at: now).count == 1024)
        for number in 5000..<5100 { _ = cache.receive(services.all(number), from: attacker, at: now) }
        #expect(cache.knownAnswers(list, at: now).count == 1124)
    }

    @Test("Less room: the largest source's newest give way, and there is room for others")
    func less() {
        var cache = RecordCache(seed: 1)
        for number in 0..<20 { _ = cache.receive(services.all(number), from: honest, at: now) }
        for number in 100..<2000 {
            _ = cache.receive(services.all(number), from: attacker, at: now + .milliseconds(number))
        }
        let (size, later) = (cache.wanted, now + .seconds(10))
        #expect(!cache.keep(atMost: size / 4, at: later).isEmpty && cache.isFull)
        #expect(listed(cache, in: 0..<20).count == 20)
        #expect(!cache.has(list, .ptr(services.name(1999))))
        // It would take all that it can have.
        #expect(cache.wanted == RecordCache.Limits().bytes)
        _ = cache.receive(services.all(3000), from: other, at: later + .seconds(1))
        #expect(cache.has(list, .ptr(services.name(3000))))
        #expect(cache.keep(atMost: size, at: later).isEmpty)
    }
}
