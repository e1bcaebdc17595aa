import DNSMessage
import DNSSD
import Discovery
import MulticastEngine
import Testing

@Suite("RecordCache")
struct RecordCacheTests {
    private let host = RecordKey.host
    private let now = Duration.seconds(1000)

    private func cache(_ limits: RecordCache.Limits = RecordCache.Limits()) -> RecordCache {
        RecordCache(limits: limits, seed: 7)
    }

    /// The results of `advance`, deadline by deadline, with their times.
    private func run(_ cache: inout RecordCache, until end: Duration) -> [(time: Duration, change: RecordCache.Change)]
    {
        var changes: [(Duration, RecordCache.Change)] = []
        while let deadline = cache.deadline, deadline <= end {
            for change in cache.advance(to: deadline).changes { changes.append((deadline, change)) }
        }
        return changes
    }

    @Test("A record is added once, and ends with its TTL unless it is received again")
    func life() {
        var cache = cache()
        #expect(cache.receive([.address(1, ttl: 120)], at: now) == [.added(host, .a(1))])
        #expect(cache.receive([.address(1, ttl: 120)], at: now + .seconds(60)) == [])
        let ends = run(&cache, until: now + .seconds(500))
        #expect(ends.map(\.time) == [now + .seconds(180)])
        #expect(ends.map(\.change) == [.removed(host, .a(1))])
        #expect(cache.count == 0)
        #expect(cache.deadline == nil)
    }

    @Test("RFC 6762 §10.1: a goodbye ends a record after a second, in which a new announcement revokes it")
    func goodbye() {
        var cache = cache()
        _ = cache.receive([.address(1, ttl: 120), .address(2, ttl: 120)], at: now)
        #expect(
            cache.receive([.address(1, ttl: 0), .address(2, ttl: 0), .address(3, ttl: 0)], at: now + .seconds(5)) == [])
        _ = cache.receive([.address(2, ttl: 120)], at: now + .milliseconds(5500))
        let ends = run(&cache, until: now + .seconds(20))
        #expect(ends.map(\.time) == [now + .seconds(6)])
        #expect(ends.map(\.change) == [.removed(host, .a(1))])
        #expect(cache.records(host).map(\.data) == [.a(2)])
    }

    @Test("RFC 6762 §6.1: a name has not the types that its NSEC record leaves out, unless it is an alias")
    func denied() {
        for (types, isDenied) in [([.aaaa], true), ([.a], false), ([.cname], false)] as [(TypeBitmap, Bool)] {
            var cache = cache()
            let nsec = RecordData.nsec(next: host.name, types: types)
            _ = cache.receive([ResourceRecord(host.name, .nsec, nsec, ttl: 120, flushesCache: true)], at: now)
            #expect(cache.isDenied(host) == isDenied)
        }
    }

    @Test("A service is another host's for 10 s after that said so; not what this machine says, and not what ends")
    func others() {
        let tony = Tony()
        let own = DomainName(text: "h1.local")
        var cache = cache()
        #expect(!cache.isOthers(tony.name, own: own, at: now))
        _ = cache.receive([tony.service(on: "h1.local")], isOwn: true, at: now)
        #expect(!cache.isOthers(tony.name, own: nil, at: now))
        // What a repeater says of this machine.
        _ = cache.receive([tony.service(on: "h1.local", port: 1)], at: now)
        #expect(!cache.isOthers(tony.name, own: own, at: now))
        _ = cache.receive([tony.service()], at: now)
        #expect(cache.isOthers(tony.name, own: own, at: now + .milliseconds(9999)))
        #expect(!cache.isOthers(tony.name, own: own, at: now + .seconds(10)))
        _ = cache.receive([tony.service().goodbye], at: now + .seconds(1))
        #expect(!cache.isOthers(tony.name, own: own, at: now + .seconds(1)))
    }

    @Test("RFC 6762 §10.2: cache-flush ends what was received more than a second ago, after a second")
    func flush() {
        var cache = cache()
        _ = cache.receive([.address(1, ttl: 120)], at: now)
        _ = cache.receive([.address(2, ttl: 120)], at: now + .seconds(4))
        // Another responder's record of the last second is spared, and so are records in the same packet.
        _ = cache.receive([.address(3, ttl: 120, flush: true), .address(4, ttl: 120)], at: now + .milliseconds(4900))
        let ends = run(&cache, until: now + .seconds(20))
        #expect(ends.map(\.time) == [now + .milliseconds(5900)])
        #expect(ends.map(\.change) == [.removed(host, .a(1))])
        #expect(Set(cache.records(host).map(\.data)) == [.a(2), .a(3), .a(4)])
    }

    @Test("A goodbye with the cache-flush bit, as avahi-daemon's of one address of two, ends itself alone")
    func flushOfGoodbye() {
        var cache = cache()
        _ = cache.receive([.address(1, ttl: 120, flush: true), .address(2, ttl: 120, flush: true)], at: now)
        _ = cache.receive([.address(1, ttl: 0, flush: true)], at: now + .seconds(5))
        let ends = run(&cache, until: now + .seconds(60))
        #expect(ends.map(\.time) == [now + .seconds(6)])
        #expect(ends.map(\.change) == [.removed(host, .a(1))])
        #expect(cache.records(host).map(\.data) == [.a(2)])
    }

    @Test("A PTR record with the cache-flush bit ends no other host's")
    func flushOfShared() throws {
        var cache = cache()
        let type = try DomainName("_witap._tcp.local")
        for (index, name) in ["a", "b"].enumerated() {
            let record = ResourceRecord(
                type, .ptr, .ptr(try DomainName("\(name)._witap._tcp.local")), ttl: 4500, flushesCache: true)
            _ = cache.receive([record], at: now + .seconds(10 * index))
        }
        #expect(run(&cache, until: now + .seconds(60)).isEmpty)
        #expect(cache.records(RecordKey(type, .ptr)).count == 2)
    }

    @Test("RFC 6762 §5.2: what is watched is asked for at 80, 85, 90 and 95 % of its life, up to 2 % later")
    func refreshes() {
        var cache = cache()
        _ = cache.receive([.address(1, ttl: 1000)], at: now)
        var asked: [Double] = []
        while let deadline = cache.deadline, deadline < now + .seconds(1000) {
            let refreshes = cache.advance(to: deadline) { $0 == host }.refreshes
            if refreshes.contains(host) { asked.append((deadline - now) / .seconds(1000)) }
        }
        #expect(asked.count == 4)
        for (time, point) in zip(asked, [0.80, 0.85, 0.90, 0.95]) { #expect(point...point + 0.02 ~= time, "\(time)") }
        // Not records that no one watches any more, nor those with a goodbye.
        _ = cache.receive([.address(1, ttl: 1000)], at: now + .seconds(999))
        while let deadline = cache.deadline { #expect(cache.advance(to: deadline).refreshes.isEmpty) }
    }

    @Test("RFC 6762 §7.1: an answer is known until half its life is over")
    func knownAnswers() {
        var cache = cache()
        _ = cache.receive([.address(1, ttl: 120)], at: now)
        #expect(cache.knownAnswers(host, at: now + .seconds(60)).map(\.ttl) == [60])
        #expect(cache.knownAnswers(host, at: now + .milliseconds(60_001)).isEmpty)
        _ = cache.receive([.address(1, ttl: 0)], at: now + .seconds(1))
        #expect(cache.knownAnswers(host, at: now + .seconds(1)).isEmpty)
    }

    @Test("RFC 6762 §10.5: two questions of others that nobody answers put a record in doubt for 10 s")
    func passiveObservation() {
        var cache = cache()
        _ = cache.receive([.address(1, ttl: 120), .address(2, ttl: 120)], at: now)
        let question = Question(host.name, .a)
        for second in [1, 3] {
            let doubted = cache.heard(question, knownAnswers: [.address(2, ttl: 100)], at: now + .seconds(second))
            #expect(doubted == (second == 3 ? [host] : []))
        }
        #expect(run(&cache, until: now + .seconds(20)).map(\.time) == [now + .seconds(13)])
        #expect(cache.records(host).map(\.data) == [.a(2)])
        // One question, or two at once, prove nothing; and an answer ends the doubt.
        for second in [30.0, 30.5, 33.0] {
            let doubted = cache.heard(question, knownAnswers: [], at: now + .milliseconds(Int(second * 1000)))
            #expect(doubted == (second == 33 ? [host] : []))
        }
        _ = cache.receive([.address(2, ttl: 120)], at: now + .seconds(34))
        #expect(run(&cache, until: now + .seconds(60)).isEmpty)
    }

    @Test("RFC 6762 §6.1: NSEC says what a name does not have, until a record says otherwise")
    func denial() {
        var cache = cache()
        let nsec = ResourceRecord(host.name, .nsec, .nsec(next: host.name, types: [.a]), ttl: 120, flushesCache: true)
        _ = cache.receive([nsec], at: now)
        #expect(cache.isDenied(RecordKey(host.name, .aaaa)))
        #expect(!cache.isDenied(host))
        _ = cache.receive([ResourceRecord(host.name, .aaaa, .aaaa(high: 1, low: 2), ttl: 120)], at: now)
        #expect(!cache.isDenied(RecordKey(host.name, .aaaa)))
    }

    @Test("A machine that slept believes nothing for longer than 10 s unless it hears it again")
    func sleep() {
        var cache = cache()
        _ = cache.receive([.address(1, ttl: 4500), .address(2, ttl: 4500)], at: now)
        // These ran out meanwhile, when nobody could ask for them.
        _ = cache.receive([.address(3, ttl: 120), .address(4, ttl: 120)], at: now)
        cache.reconfirmAll(at: now + .seconds(2000))
        _ = cache.receive([.address(2, ttl: 4500), .address(4, ttl: 4500)], at: now + .seconds(2001))
        #expect(
            run(&cache, until: now + .seconds(2100)).map(\.time) == Array(repeating: now + .seconds(2010), count: 2))
        #expect(Set(cache.records(host).map(\.data)) == [.a(2), .a(4)])
    }

    @Test("Odd TTLs: the top bit set is zero (RFC 2181 §8), more than the bound is the bound")
    func oddTTLs() {
        var limits = RecordCache.Limits()
        limits.ttl = 300
        var cache = cache(limits)
        #expect(cache.receive([.address(1, ttl: .max), .address(2, ttl: 1 << 31)], at: now).isEmpty)
        #expect(cache.receive([.address(3, ttl: .max >> 1)], at: now).count == 1)
        #expect(run(&cache, until: now + .seconds(1000)).map(\.time) == [now + .seconds(300)])
    }

    @Test(
        "What no one watches makes room; when all is watched, what comes is left out, and that is said until there is room"
    )
    func limits() throws {
        var limits = RecordCache.Limits()
        limits.records = 64
        var cache = cache(limits)
        let watched = try (0..<64).map { RecordKey(try DomainName("w\($0).local"), .a) }
        let isWatched = { (key: RecordKey) in watched.contains(key) }
        for (index, key) in watched.prefix(32).enumerated() {
            let record = ResourceRecord(key.name, .a, .a(0), ttl: 120)
            _ = cache.receive([record], at: now + .milliseconds(index), isWatched: isWatched)
        }
        for index in 0..<1000 {
            let name = try DomainName("x\(index).local")
            let record = ResourceRecord(name, .a, .a(0), ttl: 10)
            _ = cache.receive([record], at: now + .seconds(2 * index), isWatched: isWatched)
            #expect(cache.count <= 64)
            #expect(index > 20 || !cache.isFull)
        }
        // The watched records have expired meanwhile; all of them return, and nothing else stays.
        let later = now + .seconds(3000)
        _ = cache.advance(to: later)
        #expect(cache.count == 0)
        for key in watched {
            let record = ResourceRecord(key.name, .a, .a(0), ttl: 120)
            _ = cache.receive([record], at: later, isWatched: isWatched)
        }
        #expect(!cache.isFull)
        let late = ResourceRecord(try DomainName("late.local"), .a, .a(0), ttl: 500)
        _ = cache.receive([late], at: later + .seconds(5), isWatched: isWatched)
        #expect(cache.count == 64)
        #expect(cache.isFull)
        _ = cache.advance(to: later + .seconds(200))
        #expect(!cache.isFull)
    }

    @Test("One name cannot have any number of unique records")
    func uniqueRecords() {
        var cache = cache()
        _ = cache.receive((0..<1000).map { .address($0, ttl: 120) }, at: now)
        #expect(cache.records(host).count == 64)
    }

    @Test("Addresses of this link take the place of others of one host; what came later has none otherwise")
    func neighbours() throws {
        var cache = cache()
        cache.neighbours = [try CIDR("10.0.0.0/24")]
        let true4 = RecordData.a(0x0A00_0007)
        let junk = (0..<64).map { ResourceRecord.address(0x0101_0100 + $0, ttl: 120) }
        for (index, record) in junk.enumerated() {
            _ = cache.receive([record], at: now + .milliseconds(index))
        }
        let changes = cache.receive([.address(0x0A00_0007, ttl: 120)], at: now + .seconds(1))
        #expect(changes == [.removed(host, junk[63].data), .added(host, true4)])
        // More of the same does not drive it out, nor what was there before.
        for bits in 0..<100 as Range<UInt32> {
            #expect(cache.receive([.address(0x0202_0200 + bits, ttl: 120)], at: now + .seconds(2)).isEmpty)
        }
        #expect(Set(cache.records(host).map(\.data)) == Set(junk.prefix(63).map(\.data) + [true4]))
    }

    @Test("A list has a bound of its own, and leaves room for what its services are made of")
    func sharedRecords() throws {
        var limits = RecordCache.Limits()
        limits.sharedRecords = 32
        var cache = cache(limits)
        let list = RecordKey(try DomainName("_witap._tcp.local"), .ptr)
        let pointers = try (0..<100).map {
            ResourceRecord(list.name, .ptr, .ptr(try DomainName("s\($0)._witap._tcp.local")), ttl: $0 < 8 ? 60 : 4500)
        }
        #expect(cache.receive(pointers, at: now).count == 32)
        #expect(cache.isFull)
        #expect(cache.receive([.address(1, ttl: 120)], at: now).count == 1)
        _ = cache.advance(to: now + .seconds(30))
        #expect(cache.isFull)
        _ = cache.advance(to: now + .seconds(61))
        #expect(!cache.isFull)
        #expect(cache.receive(pointers, at: now + .seconds(62)).count == 8)
    }

    @Test("Thousands of records come and go, and each is found where it is", arguments: 0..<4 as Range<UInt64>)
    func many(seed: UInt64) throws {
        var (generator, cache) = (SeededGenerator(seed: seed), cache())
        let names = try (0..<600).map { try DomainName("h\($0).local") }
        var there: Set<Int> = []
        for step in 0..<6000 {
            let number = Int.random(in: 0..<2400, using: &generator)
            let record = ResourceRecord(names[number / 4], .ptr, .ptr(names[number % 4]), ttl: 80_000)
            let time = now + .seconds(2 * step)
            if there.remove(number) == nil {
                there.insert(number)
                #expect(cache.receive([record], at: time).count == 1)
            } else {
                #expect(cache.receive([record.goodbye], at: time).isEmpty)
                #expect(cache.advance(to: time + .seconds(1)).changes.count == 1)
            }
            // Those of one name.
            let mine = Set((0..<4).filter { there.contains(number / 4 * 4 + $0) }.map { RecordData.ptr(names[$0]) })
            #expect(Set(cache.records(RecordKey(record.name, .ptr)).map(\.data)) == mine)
            #expect(cache.count == there.count)
        }
    }

    @Test("A machine that slept believes what is much for longer: asking for it takes its time")
    func longSleep() throws {
        var cache = cache()
        for number in 0..<10_000 {
            _ = cache.receive(
                [ResourceRecord(try DomainName("h\(number).local"), .a, .a(1), ttl: 4500)], at: now)
        }
        cache.reconfirmAll(at: now + .seconds(100))
        #expect(cache.advance(to: now + .seconds(114)).changes.isEmpty)
        #expect(cache.advance(to: now + .seconds(115)).changes.count == 10_000)
    }

    @Test("A record that flaps leaves nothing behind")
    func flapping() {
        var cache = cache()
        for step in 0..<20_000 {
            let time = now + .milliseconds(step * 10)
            _ = cache.receive([.address(1, ttl: step.isMultiple(of: 2) ? 4500 : 0)], at: time)
            _ = cache.advance(to: time)
        }
        #expect(cache.queuedDeadlines < 200)
    }

    @Test("A name in a list that comes and goes leaves nothing behind in the tables that find it")
    func flappingInAList() {
        var cache = cache()
        let pointer = Tony().pointer
        for step in 0..<100 {
            let time = now + .seconds(step * 10)
            #expect(cache.receive([pointer], at: time).count == 1)
            _ = cache.receive([pointer.goodbye], at: time)
            #expect(cache.advance(to: time + .seconds(1)).changes.count == 1)
        }
        // A place that stays is found by nobody, and only costs memory and time.
        for table in ["heads", "places"] {
            #expect(Mirror(reflecting: cache).descendant("store", table, "count") as? Int == 0)
        }
    }
}

extension RecordKey {
    /// The addresses of `h1.local`.
    static let host: RecordKey = {
        guard let name = try? DomainName("h1.local") else { return RecordKey(.root, .a) }
        return RecordKey(name, .a)
    }()
}

extension ResourceRecord {
    /// An address of `h1.local`.
    static func address(_ bits: UInt32, ttl: UInt32, flush: Bool = false) -> ResourceRecord {
        ResourceRecord(RecordKey.host.name, .a, .a(bits), ttl: ttl, flushesCache: flush)
    }
}

extension DomainName {
    /// A name of plain labels.
    init(_ text: String) throws { try self.init(labels: text.split(separator: ".").map { Array($0.utf8) }) }
}
