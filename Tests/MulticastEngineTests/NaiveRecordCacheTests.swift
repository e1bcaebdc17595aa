import DNSMessage
import DNSSD
import MulticastEngine
import Testing

/// The rules of RFC 6762 §10 in their plainest form: every record is examined every time.
private struct NaiveCache {
    struct Entry {
        let name: DomainName
        let type: RecordType
        let data: RecordData
        var received: Duration
        var expires: Duration
    }

    var entries: [Entry] = []

    mutating func advance(to now: Duration) { entries.removeAll { $0.expires <= now } }

    mutating func receive(_ records: [ResourceRecord], at now: Duration) {
        for record in records {
            let index = entries.firstIndex {
                $0.name == record.name && $0.type == record.type && $0.data == record.data
            }
            switch (index, record.ttl) {
            case (nil, 0): break
            case (nil, let ttl):
                entries.append(
                    Entry(
                        name: record.name, type: record.type, data: record.data, received: now,
                        expires: now + .seconds(ttl)))
            case (let index?, 0): entries[index].expires = min(entries[index].expires, now + .seconds(1))
            case (let index?, let ttl):
                entries[index].received = now
                entries[index].expires = now + .seconds(ttl)
            }
        }
        for record in records where record.ttl > 0 && record.flushesCache && record.type != .ptr {
            for index in entries.indices
            where entries[index].name == record.name && entries[index].type == record.type
                && now - entries[index].received > .seconds(1)
            {
                entries[index].expires = min(entries[index].expires, now + .seconds(1))
            }
        }
    }
}

@Suite("RecordCache against a naive one")
struct NaiveRecordCacheTests {
    @Test(
        "Random packets: the same records at every time, and changes that add up to them",
        arguments: 0..<UInt64(rounds(40)))
    func random(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let names = try ["a.local", "B.local", "b.local", "c.local"].map { try DomainName($0) }
        let (types, lives) = ([RecordType.a, .ptr, .txt], [0, 1, 2, 10, 120] as [UInt32])
        var (cache, naive) = (RecordCache(seed: seed), NaiveCache())
        var told: Set<Known> = []
        var now = Duration.seconds(10)
        for _ in 0..<400 {
            let end = now + .milliseconds(Int.random(in: 0...1500, using: &generator))
            // Time passes deadline by deadline, as in reality.
            while let deadline = cache.deadline, deadline <= end {
                for change in cache.advance(to: deadline).changes { try apply(change, to: &told) }
            }
            now = end
            naive.advance(to: now)
            #expect(told == Set(naive.entries.map { Known($0.name, $0.type, $0.data) }))
            let packet = (0..<Int.random(in: 0...5, using: &generator)).map { _ in
                let type = types.randomElement(using: &generator) ?? .a
                let number = UInt32.random(in: 0...3, using: &generator)
                let data: RecordData =
                    type == .a ? .a(number) : type == .txt ? .txt([1, UInt8(number)]) : .ptr(names[Int(number)])
                return ResourceRecord(
                    names.randomElement(using: &generator) ?? .root, type, data,
                    ttl: lives.randomElement(using: &generator) ?? 0, flushesCache: .random(using: &generator))
            }
            for change in cache.receive(packet, at: now) { try apply(change, to: &told) }
            naive.receive(packet, at: now)
            #expect(told == Set(naive.entries.map { Known($0.name, $0.type, $0.data) }))
            #expect(cache.count == told.count)
            for known in told {
                #expect(cache.records(RecordKey(known.name, known.type)).contains { $0.data == known.data })
            }
        }
        #expect(!told.isEmpty || cache.count == 0)
    }

    private struct Known: Hashable {
        let name: DomainName
        let type: RecordType
        let data: RecordData

        init(_ name: DomainName, _ type: RecordType, _ data: RecordData) {
            (self.name, self.type, self.data) = (name, type, data)
        }
    }

    /// Checks that what is added was absent, and what is removed was present.
    private func apply(_ change: RecordCache.Change, to told: inout Set<Known>) throws {
        switch change {
        case .added(let key, let data): #expect(told.insert(Known(key.name, key.type, data)).inserted)
        case .removed(let key, let data): #expect(told.remove(Known(key.name, key.type, data)) != nil)
        case .heard, .unheard: Issue.record("all came over both families")
        }
    }
}
