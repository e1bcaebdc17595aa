import DNSSD
import Discovery
import Testing

@Suite struct ChangeLogTests {
    private func service(_ name: String, _ port: Int = 1) throws -> DiscoveredService {
        DiscoveredService(
            instance: ServiceInstance(name: try ServiceName(name), type: try ServiceType("_xx._tcp")),
            port: try Port(port)
        )
    }

    private func told(_ reader: inout LogReader, _ log: ChangeLog<DiscoveredService>) -> [Change<DiscoveredService>]? {
        reader.take(from: log, atMost: 1000)?.map(\.change)
    }

    @Test func aNewReaderIsToldWhatIsThereAndThenSettled() throws {
        var log = ChangeLog<DiscoveredService>()
        log.apply(.found(try service("a")))
        log.apply(.found(try service("b")))
        log.apply(.lost(try service("a")))
        log.apply(.settled)
        var reader = LogReader()
        #expect(told(&reader, log) == [.found(try service("b")), .settled])
        #expect(told(&reader, log) == [])
    }

    @Test func afterTheBackendCameBackItIsNotSettledBeforeItsListIsThere() throws {
        var log = ChangeLog<DiscoveredService>()
        log.apply(.settled)
        log.apply(.backend(.lost("away")))
        // Nothing more can be learned while the backend is away.
        #expect(log.isSettled)
        var early = LogReader()
        #expect(told(&early, log) == [.backend(.lost("away"))])
        log.apply(.backend(.recovered))
        var late = LogReader()
        #expect(!log.isSettled && told(&late, log) == [])
        log.apply(.found(try service("later")))
        log.apply(.settled)
        #expect(told(&early, log) == [.backend(.recovered), .found(try service("later")), .settled])
        #expect(told(&late, log) == [.found(try service("later")), .settled])
    }

    @Test func aSlowReaderIsToldOnlyWhatCameOfIt() throws {
        var log = ChangeLog<DiscoveredService>()
        log.apply(.found(try service("a")))
        var reader = LogReader()
        _ = told(&reader, log)
        for port in 2...500 { log.apply(.changed(try service("a", port))) }
        log.apply(.found(try service("b")))
        log.apply(.lost(try service("b")))
        #expect(told(&reader, log) == [.changed(try service("a", 500))])
    }

    @Test func lostAndFoundAgainIsToldInThisOrder() throws {
        var log = ChangeLog<DiscoveredService>()
        log.apply(.found(try service("a")))
        var reader = LogReader()
        _ = told(&reader, log)
        log.apply(.lost(try service("a")))
        log.apply(.found(try service("a", 2)))
        #expect(told(&reader, log) == [.lost(try service("a")), .found(try service("a", 2))])
    }

    @Test func aReaderThatMissedForgottenEndsCannotGoOn() throws {
        var log = ChangeLog<DiscoveredService>(endLimit: 4)
        log.apply(.found(try service("first")))
        var reader = LogReader()
        _ = told(&reader, log)
        for number in 0..<100 {
            log.apply(.found(try service("s\(number)")))
            log.apply(.lost(try service("s\(number)")))
        }
        #expect(told(&reader, log) == nil)
        var new = LogReader()
        #expect(told(&new, log) == [.found(try service("first"))])
    }

    /// What stands still has numbers from before the ends that were forgotten.
    @Test func aNewReaderThatTakesLittleAtATimeIsToldAllThatIsThere() throws {
        var log = ChangeLog<DiscoveredService>(endLimit: 4)
        // It waits while there is nothing, as a client does whose watch is the first.
        var early = LogReader()
        #expect(told(&early, log) == [])
        let standing = try (0..<10).map { try service("standing \($0)") }
        for one in standing { log.apply(.found(one)) }
        for number in 0..<100 {
            log.apply(.found(try service("s\(number)")))
            log.apply(.lost(try service("s\(number)")))
        }
        log.apply(.settled)
        #expect(log.forgotten > 10)
        for var reader in [LogReader(), early] {
            var all: [Change<DiscoveredService>] = []
            while let some = reader.take(from: log, atMost: 3), !some.isEmpty { all += some.map(\.change) }
            let found = all.filter { if case .found = $0 { true } else { false } }
            #expect(found == standing.map { .found($0) })
            #expect(all.last == .settled)
        }
    }

    @Test func aNewReaderStillMissesEndsThatWereForgottenSinceItBegan() throws {
        var log = ChangeLog<DiscoveredService>(endLimit: 4)
        for number in 0..<10 { log.apply(.found(try service("standing \(number)"))) }
        var reader = LogReader()
        let first = reader.take(from: log, atMost: 3)
        #expect(first?.count == 3)
        log.apply(.lost(try service("standing 0")))
        for number in 0..<100 {
            log.apply(.found(try service("s\(number)")))
            log.apply(.lost(try service("s\(number)")))
        }
        #expect(told(&reader, log) == nil)
    }

    @Test func theBackendIsToldAsADifference() throws {
        var log = ChangeLog<DiscoveredService>()
        var reader = LogReader()
        log.apply(.backend(.lost("x")))
        log.apply(.backend(.recovered))
        #expect(told(&reader, log) == [])
        log.apply(.backend(.lost("y")))
        #expect(told(&reader, log) == [.backend(.lost("y"))])
        log.apply(.backend(.recovered))
        #expect(told(&reader, log) == [.backend(.recovered)])
    }

    /// Wherever readers stop and resume, the changes they received add up to the current state.
    @Test(arguments: 1...40) func whatReadersWereToldIsWhatIsThere(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var log = ChangeLog<DiscoveredService>(endLimit: 16)
        var truth: [String: Int] = [:]
        // The first reader gets everything at once, so it must never get anything twice.
        var readers = [Reader(isStrict: true), Reader(), Reader(), Reader()]
        for _ in 0..<2000 {
            let name = "s\(Int.random(in: 0..<12, using: &random))"
            let port = Int.random(in: 1...60_000, using: &random)
            switch (Int.random(in: 0..<3, using: &random), truth[name]) {
            case (0, .some):
                log.apply(.lost(try service(name)))
                truth[name] = nil
            case (1, .some):
                log.apply(.changed(try service(name, port)))
                truth[name] = port
            case (1, nil):
                log.apply(.found(try service(name, port)))
                truth[name] = port
            default: break
            }
            let index = Int.random(in: 0..<readers.count, using: &random)
            guard Int.random(in: 0..<(index * 8 + 1), using: &random) == 0 else { continue }
            readers[index].read(log, using: &random)
        }
        for index in readers.indices {
            for _ in 0..<1000 { readers[index].read(log, using: &random) }
            #expect(readers[index].seen == truth)
        }
        #expect(readers.contains { $0.resumptions > 0 })
    }

    private struct Reader {
        var isStrict = false
        var reader = LogReader()
        var seen: [String: Int] = [:]
        var resumptions = 0

        mutating func read(_ log: ChangeLog<DiscoveredService>, using random: inout SeededGenerator) {
            let limit = isStrict ? Int.max : Int.random(in: 1...8, using: &random)
            let base = reader.base
            guard let changes = reader.take(from: log, atMost: limit) else {
                // It missed too much and starts over.
                self = Reader(isStrict: isStrict, resumptions: resumptions)
                return
            }
            for (number, change) in changes {
                told(change)
                guard !isStrict, Int.random(in: 0..<6, using: &random) == 0 else { continue }
                // The connection breaks after this line, and the client returns with its cursor.
                reader = LogReader(resumingAfter: number, base: min(base, number))
                resumptions += 1
                return
            }
        }

        private mutating func told(_ change: Change<DiscoveredService>) {
            switch change {
            case .found(let service):
                let old = seen.updateValue(Int(service.port?.rawValue ?? 0), forKey: service.instance.name.text)
                if isStrict { #expect(old == nil) }
            case .changed(let service):
                let old = seen.updateValue(Int(service.port?.rawValue ?? 0), forKey: service.instance.name.text)
                #expect(old != nil)
            case .lost(let service):
                let old = seen.removeValue(forKey: service.instance.name.text)
                if isStrict { #expect(old != nil) }
            default: break
            }
        }
    }
}
