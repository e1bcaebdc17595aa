import DNSMessage
import DNSSD
import Discovery
import DiscoverySystem
import DiscoveryTesting
import Foundation
import Testing

@testable import UnicastEngine

/// The publishers of a process, each with its runner, against a server that is a value; time stands still.
@Suite(.ahead, .timeLimit(.minutes(5))) struct UnicastPublisherTests {
    private typealias TestTime = DiscoveryTesting.TestTime

    private let exchange = ScriptedExchange()
    private let directory = FileManager.default.temporaryDirectory.appending(path: "ids-\(UUID().uuidString)")
        .path(percentEncoded: false)
    private let old = TSIGKey(name: name("old"), algorithm: .sha256, secret: [1])
    private let new = TSIGKey(name: name("new"), algorithm: .sha256, secret: [2])

    private func publisher(
        _ time: any TimeSource = TestTime(), machine: String? = "machine", copy: Int? = nil
    ) throws -> UnicastPublisher {
        let address = IPAddress.v4(IPv4Address(bits: 0x0A00_0001))
        let domains = try ["home.example.org", "office.example.org"].map {
            DomainSettings(try Domain($0), key: old, host: "h1", addresses: [address])
        }
        return UnicastPublisher(
            domains: domains, exchange: exchange, time: time, directory: directory + (copy.map { "-\($0)" } ?? ""),
            machine: machine
        ) { domain, _ throws(DiscoveryError) in
            guard let name = DomainName([], in: domain), let server = try? ScriptedExchange.server else {
                throw DiscoveryError(.misconfigured, "\(domain)")
            }
            return ZoneLocation(zone: name, server: server)
        }
    }

    /// Publishes; the facts come one after another.
    private func publish(
        _ name: String, by publisher: UnicastPublisher, in domain: String = "home.example.org",
        on host: ZoneHost? = nil
    ) throws -> (any PublicationOperation, AsyncStream<PublicationFact>) {
        let (facts, told) = AsyncStream.makeStream(of: PublicationFact.self)
        let service = try OfferedService(name: name, type: "_http._tcp", domain: domain, port: 80)
        let operation = publisher.publish(service, on: host, onConflict: .rename, isPersistent: true) {
            told.yield($0)
        }
        return (operation, facts)
    }

    private func established(_ facts: AsyncStream<PublicationFact>) async {
        for await fact in facts where fact.state == .established { return }
    }

    private func host(_ number: UInt32) -> ZoneHost {
        ZoneHost(
            identity: "host\(number).local", label: "gw-\(number)",
            addresses: [.v4(IPv4Address(bits: 0x0A00_0001 + number))])
    }

    @Test func oneOfADomainAndProcessWatchesTheOthers() async throws {
        let time = TestTime()
        let publisher = try publisher(time)
        for number in 1...3 {
            await established(try publish("s\(number)", by: publisher, on: host(UInt32(number))).1)
        }
        exchange.state.withLock { $0.asked = [] }
        let shards = Set((0..<16).map { name("\(String($0, radix: 16))._index._discoverd.home.example.org") })
        func rounds() -> Int { exchange.state.withLock { $0.asked.count { shards.contains($0.name) } } }
        // Two hours of lease: a round begins after less than 12 minutes, and the next one not before 8.
        time.advance(by: .seconds(12 * 60))
        while rounds() < 16 { await Task.yield() }
        for _ in 0..<2000 { await Task.yield() }
        #expect(rounds() == 16)
        _ = await publisher.shutdown()
    }

    @Test func whatHasNothingLeftIsDroppedAndNothingElse() async throws {
        let publisher = try publisher()
        let (first, facts) = try publish("a", by: publisher, on: host(1))
        await established(facts)
        let (_, others) = try publish("b", by: publisher, in: "office.example.org")
        await established(others)
        #expect(publisher.zones.map { "\($0.domain)" } == ["home.example.org", "office.example.org"])
        #expect(await first.cancel(waitingAtMost: .seconds(10)))
        while publisher.zones.first.map({ $0.registrations.isEmpty && $0.state != .starting }) == true {
            await Task.yield()
        }
        let (_, last) = try publish("c", by: publisher, on: host(2))
        await established(last)
        #expect(publisher.zones.flatMap { $0.registrations.map { $0.fact.name.text } } == ["c", "b"])
        #expect(publisher.zones.count == 2)
        _ = await publisher.shutdown()
        #expect(exchange.state.withLock { $0.zone } == ScriptedZone())
    }

    @Test func whatComesWhenEverythingIsWithdrawnIsRefused() async throws {
        let publisher = try publisher()
        await established(try publish("a", by: publisher, on: host(1)).1)
        let end = Task { await publisher.shutdown() }
        // On a host that still has something in the zone.
        let isRefused = Locked(false)
        var count = 0
        while !isRefused.withLock({ $0 }) {
            count += 1
            let service = try OfferedService(
                name: "late \(count)", type: "_http._tcp", domain: "home.example.org", port: 80)
            _ = publisher.publish(service, on: host(1), onConflict: .rename, isPersistent: true) { fact in
                if case .failed(let error) = fact.state, error.code == .closed { isRefused.withLock { $0 = true } }
            }
            await Task.yield()
        }
        #expect(await end.value)
        #expect(exchange.state.withLock { $0.zone } == ScriptedZone())
    }

    @Test func aCopiedMachineIsAnotherPublisher() async throws {
        func leases() -> Set<DomainName> {
            exchange.state.withLock { state in
                Set(state.zone.records.keys.filter { $0.type == .txt && $0.name.labels.count == 5 }.map(\.name))
            }
        }
        var all: [Set<DomainName>] = []
        _ = PublisherIdentity(directory: directory)
        for (number, machine) in ["one", "one", "two"].enumerated() {
            try FileManager.default.copyItem(atPath: directory, toPath: "\(directory)-\(number)")
            let publisher = try publisher(machine: machine, copy: number)
            await established(try publish("a", by: publisher).1)
            all.append(leases())
            _ = await publisher.shutdown()
            #expect(leases().isEmpty)
        }
        #expect(all.allSatisfy { $0.count == 1 } && all[0] == all[1] && all[1] != all[2], "\(all)")
    }

    @Test func anotherKeyCountsFromTheNextMessageOn() async throws {
        exchange.state.withLock { $0.key = new }
        let time = TestTime()
        let publisher = try publisher(time)
        let (_, facts) = try publish("a", by: publisher)
        var iterator = facts.makeAsyncIterator()
        while case let fact? = await iterator.next() { if case .refused = fact.state { break } }
        #expect(publisher.zones.first?.key == "old.")
        let home = try Domain("home.example.org")
        #expect(publisher.replaceKeys([home: old]) == [])
        #expect(publisher.replaceKeys([home: new]) == [home])
        // No time passes: nothing waits for its next try.
        while let fact = await iterator.next(), fact.state != .established {}
        #expect(publisher.zones.first?.key == "new.")
        _ = await publisher.shutdown()
    }

    /// A publisher of a zone whose server refuses at first. Its time passes by the test, a second at a time.
    private struct Refused {
        let time: TestTime
        let publisher: UnicastPublisher
        /// How often the zone was looked for.
        let searches = Locked(0)

        /// - Parameter search: says where the zone is, by the number of the search.
        init(
            by exchange: ScriptedExchange, _ key: TSIGKey, in directory: String,
            _ search: @escaping @Sendable (DomainName, Int) async throws(DiscoveryError) -> ZoneLocation
        ) throws {
            let server = try ScriptedExchange.server
            exchange.state.withLock { $0.foreign = [server] }
            let (time, searches) = (TestTime(), searches)
            self.time = time
            let address = IPAddress.v4(IPv4Address(bits: 0x0A00_0001))
            let settings = DomainSettings(
                try Domain("home.example.org"), key: key, host: "h1", addresses: [address])
            publisher = UnicastPublisher(
                domains: [settings], exchange: exchange, time: time, directory: directory, machine: nil
            ) { domain, _ throws(DiscoveryError) in
                guard let zone = DomainName([], in: domain) else { throw DiscoveryError(.misconfigured, "\(domain)") }
                let number = searches.withLock { searches in
                    searches += 1
                    return searches
                }
                return try await search(zone, number)
            }
        }

        var state: PublicationFact.State? { publisher.zones.first?.registrations.first?.fact.state }

        /// Lets time pass, two minutes at most.
        func pass(until isReached: () -> Bool) async {
            for _ in 0..<120 where !isReached() {
                time.advance(by: .seconds(1))
                for _ in 0..<100 { await Task.yield() }
            }
        }
    }

    @Test func aZoneWhoseOldServerStillAnswersIsLookedForAgain() async throws {
        let before = try ScriptedExchange.server
        let now = ServerAddress(.v4(IPv4Address(bits: 0x0A35_0036)), port: try Port(53))
        let refused = try Refused(by: exchange, old, in: directory) { zone, number throws(DiscoveryError) in
            ZoneLocation(zone: zone, server: number == 1 ? before : now)
        }
        _ = try publish("a", by: refused.publisher)
        await refused.pass { refused.state == .established }
        #expect(refused.state == .established)
        #expect(refused.publisher.zones.first?.server == "10.53.0.54 port 53")
        _ = await refused.publisher.shutdown()
    }

    /// A server refused, and serves the zone again; the search for another one does not end.
    @Test func nothingWaitsForTheSearchForAZoneThatIsKnown() async throws {
        let server = try ScriptedExchange.server
        let (never, _) = AsyncStream.makeStream(of: Void.self)
        let refused = try Refused(by: exchange, old, in: directory) { zone, number throws(DiscoveryError) in
            if number == 1 { return ZoneLocation(zone: zone, server: server) }
            for await _ in never {}
            throw DiscoveryError(.backendUnavailable, "cancelled")
        }
        _ = try publish("a", by: refused.publisher)
        await refused.pass { refused.searches.withLock { $0 } == 2 }
        exchange.state.withLock { $0.foreign = [] }
        await refused.pass { refused.state == .established }
        #expect(refused.state == .established)
        // One search at a time.
        #expect(refused.searches.withLock { $0 } == 2)
        _ = await refused.publisher.shutdown()
    }

    @Test func nothingTurnsWithoutEndWhileTheServerIsLookedFor() async throws {
        let time = CountingTime()
        let (never, _) = AsyncStream.makeStream(of: Void.self)
        let calls = Locked(0)
        let settings = DomainSettings(try Domain("home.example.org"), key: old, host: "h1")
        let publisher = UnicastPublisher(
            domains: [settings], exchange: exchange, time: time, directory: directory, machine: nil
        ) { domain, _ throws(DiscoveryError) in
            // For addresses and for the first message it fails at once, so that both try again; then nothing comes.
            let number = calls.withLock { calls in
                calls += 1
                return calls
            }
            if number <= 2 { throw DiscoveryError(.backendUnavailable, "not yet") }
            for await _ in never {}
            throw DiscoveryError(.backendUnavailable, "cancelled")
        }
        _ = try publish("a", by: publisher)
        for second in 1...60 {
            time.inner.advance(by: .seconds(1))
            for _ in 0..<100 { await Task.yield() }
            #expect(time.reads.withLock { $0 } < 40 * second + 100)
        }
        #expect(time.reads.withLock { $0 } > 3)
    }

    @Test func aServerThatIsAwayGetsFewMessages() async throws {
        let time = TestTime()
        let publisher = try publisher(time)
        await established(try publish("a", by: publisher).1)
        exchange.state.withLock { ($0.isSilent, $0.asked, $0.updates) = (true, [], 0) }
        func messages() -> Int { exchange.state.withLock { $0.asked.count + $0.updates } }
        // An hour passes, so that the lease is due.
        time.advance(by: .seconds(3600))
        while messages() == 0 { await Task.yield() }
        for _ in 0..<300 {
            time.advance(by: .seconds(1))
            for _ in 0..<100 { await Task.yield() }
        }
        // A burst of the janitor's, then a try every 30 s.
        #expect((8...60) ~= messages(), "\(messages())")
        exchange.state.withLock { $0.isSilent = false }
        _ = await publisher.shutdown()
    }
}

/// Counts how often the time is asked for: every turn does.
private final class CountingTime: TimeSource {
    let inner = DiscoveryTesting.TestTime()
    let reads = Locked(0)

    var now: Duration {
        reads.withLock { $0 += 1 }
        return inner.now
    }

    func sleep(until deadline: Duration) async throws { try await inner.sleep(until: deadline) }
}
