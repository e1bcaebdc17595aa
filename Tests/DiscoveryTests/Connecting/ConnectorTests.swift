import DNSSD
import Discovery
import DiscoverySystem
import DiscoveryTesting
import Testing

@Suite("The connector", .timeLimit(.minutes(5)))
struct ConnectorTests {
    private let bench: ConnectorBench

    init() throws { bench = try ConnectorBench() }

    @Test("the first address that answers is used, and the report says how it came about")
    func connects() async throws {
        let (instance, publication) = try bench.publish()
        let establishment = await bench.connector().establish(.instance(instance))
        #expect(try establishment.result.get() == "fe80::1")
        let report = establishment.report
        #expect(report.winner?.address == bench.v6)
        #expect(report.source == .resolved && report.resolving == .zero)
        #expect(report.service?.instance == instance)
        #expect(report.attempts.map(\.outcome) == [.connected])
        publication.cancel()
    }

    @Test("RFC 8305 §5: a dead address costs 250 ms, and is closed without a trace")
    func deadFirst() async throws {
        bench.dialer.set(bench.v6, .hangs)
        let (instance, publication) = try bench.publish()
        let task = Task { await bench.connector().establish(.instance(instance)) }
        await bench.dialer.dialled(atLeast: 1)
        await bench.time.sleeper(until: .milliseconds(250))
        bench.time.advance(by: .milliseconds(250))
        let establishment = await task.value
        #expect(try establishment.result.get() == "10.0.0.1")
        #expect(establishment.report.duration == .milliseconds(250))
        #expect(establishment.report.attempts.map(\.outcome) == [.cancelled, .connected])
        #expect(establishment.report.attempts.map(\.start) == [.zero, .milliseconds(250)])
        #expect(bench.dialer.open == ["10.0.0.1"])
        publication.cancel()
    }

    @Test("a refused address costs nothing")
    func refusedFirst() async throws {
        bench.dialer.set(bench.v6, .refuses)
        let (instance, publication) = try bench.publish()
        let establishment = await bench.connector().establish(.instance(instance))
        #expect(establishment.report.winner?.address == bench.v4)
        #expect(establishment.report.duration == .zero)
        #expect(establishment.report.attempts.map(\.outcome) == [.refused, .connected])
        publication.cancel()
    }

    @Test("a loser that connects although it lost is closed")
    func lateSuccess() async throws {
        bench.dialer.set(bench.v6, .hangsOn)
        let (instance, publication) = try bench.publish()
        let task = Task { await bench.connector().establish(.instance(instance)) }
        await bench.dialer.dialled(atLeast: 1)
        await bench.time.sleeper(until: .milliseconds(250))
        bench.time.advance(by: .milliseconds(250))
        await bench.dialer.dialled(atLeast: 2)
        bench.dialer.answer(bench.v6)
        let establishment = await task.value
        // Whichever was reported first won; the other is closed.
        let winner = try establishment.result.get()
        #expect(bench.dialer.open == [winner])
        #expect(bench.dialer.closed.count == 1)
        publication.cancel()
    }

    @Test("addresses that worked last time are dialled first; those that failed, last")
    func remembers() async throws {
        bench.dialer.set(bench.v6, .refuses)
        let (instance, publication) = try bench.publish()
        _ = await bench.connector().establish(.instance(instance))
        _ = await bench.connector().establish(.instance(instance))
        #expect(bench.dialer.dialled == ["fe80::1", "10.0.0.1", "10.0.0.1"])
        publication.cancel()
    }

    @Test("nothing is dialled that the policy denies: not permitted, with every address and the reason")
    func denied() async throws {
        let (instance, publication) = try bench.publish()
        let policy = AddressPolicy(deny: [try CIDR("10.0.0.0/8"), try CIDR("fe80::/10")])
        let establishment = await bench.connector(policy).establish(.instance(instance))
        #expect(throws: DiscoveryError.self) { try establishment.result.get() }
        guard case .failure(let error) = establishment.result else { return }
        #expect(error.code == .notPermitted)
        #expect(error.message.contains("denied by 10.0.0.0/8"))
        #expect(establishment.report.attempts.map(\.outcome) == [.denied, .denied])
        #expect(bench.dialer.dialled.isEmpty)
        publication.cancel()
    }

    @Test("one address denied and the other refused: unreachable")
    func mixed() async throws {
        bench.dialer.set(bench.v4, .refuses)
        let (instance, publication) = try bench.publish()
        let policy = AddressPolicy(deny: [try CIDR("fe80::/10")])
        let establishment = await bench.connector(policy).establish(.instance(instance))
        #expect(establishment.failureCode == .unreachable)
        #expect(establishment.report.attempts.map(\.outcome) == [.denied, .refused])
        publication.cancel()
    }

    @Test("addresses are judged again at the moment of the dial")
    func judgedTwice() async throws {
        let (instance, publication) = try bench.publish()
        let asked = Locked(0)
        let before = bench.local
        let after = LocalAddresses(
            entries: before.entries + [try entry("10.0.0.1", 24), try entry("fe80::1%2", 64)], loopbacks: [lo])
        let connector = Connector(
            network: bench.network, dialer: bench.dialer,
            localAddresses: {
                asked.withLock { count in
                    count += 1
                    return count == 1 ? before : after
                }
            },
            routes: { NoRoutes() })
        let establishment = await connector.establish(.instance(instance))
        #expect(establishment.failureCode != nil)
        #expect(bench.dialer.dialled.isEmpty, "both have become this machine's own")
        publication.cancel()
    }

    @Test("a service that no one announces: not found, after 5 s")
    func notFound() async throws {
        let instance = ServiceInstance(name: try ServiceName("nobody"), type: try ServiceType("_witap._tcp"))
        let task = Task { await bench.connector().establish(.instance(instance)) }
        await bench.time.sleeper(until: .seconds(5))
        bench.time.advance(by: .seconds(5))
        let establishment = await task.value
        #expect(establishment.failureCode == .notFound)
        #expect(establishment.report.duration == .seconds(5))
        #expect(establishment.report.attempts.isEmpty)
    }

    @Test("a backend that is not there: after 2 s")
    func noBackend() async throws {
        bench.simulated.stopBackend(of: "h2")
        let instance = ServiceInstance(name: try ServiceName("tony"), type: try ServiceType("_witap._tcp"))
        let task = Task { await bench.connector().establish(.instance(instance)) }
        await bench.time.sleeper(until: .seconds(2))
        bench.time.advance(by: .seconds(2))
        let establishment = await task.value
        #expect(establishment.failureCode == .backendUnavailable)
        #expect(establishment.report.duration == .seconds(2))
    }

    @Test("RFC 6763 §8: SRV port 0 is not offered, and never dialled")
    func portZero() async throws {
        let instance = ServiceInstance(name: try ServiceName("tony"), type: try ServiceType("_witap._tcp"))
        let service = DiscoveredService(instance: instance, interfaces: [eth0], state: .unavailable)
        let establishment = await bench.connector().establish(.service(service))
        #expect(establishment.failureCode == .unreachable)
        #expect(bench.dialer.dialled.isEmpty)
    }

    @Test("all dead: at the limit, every attempt in the report")
    func allDead() async throws {
        bench.dialer.set(bench.v4, .hangs)
        bench.dialer.set(bench.v6, .hangs)
        let (instance, publication) = try bench.publish()
        let task = Task { await bench.connector().establish(.instance(instance)) }
        await bench.time.sleeper(until: .milliseconds(250))
        bench.time.advance(by: .milliseconds(250))
        await bench.dialer.dialled(atLeast: 2)
        // First the timer for hearing of the service at all, then that of the race.
        await bench.time.sleeper(until: .seconds(5))
        bench.time.advance(by: .milliseconds(4750))
        await bench.time.sleeper(until: .seconds(10))
        bench.time.advance(by: .seconds(5))
        let establishment = await task.value
        #expect(establishment.failureCode == .unreachable)
        #expect(establishment.report.duration == .seconds(10))
        #expect(establishment.report.attempts.map(\.outcome) == [.timeout, .timeout])
        #expect(bench.dialer.open.isEmpty)
        publication.cancel()
    }

    @Test("cancelled while it asks, and while it dials: nothing is left")
    func cancelled() async throws {
        bench.dialer.set(bench.v4, .hangs)
        bench.dialer.set(bench.v6, .hangs)
        let (instance, publication) = try bench.publish()
        let dialling = Task { await bench.connector().establish(.instance(instance)) }
        await bench.dialer.dialled(atLeast: 1)
        dialling.cancel()
        #expect(await dialling.value.failureCode == .closed)

        let nobody = ServiceInstance(name: try ServiceName("nobody"), type: try ServiceType("_witap._tcp"))
        let asking = Task { await bench.connector().establish(.instance(nobody)) }
        await bench.time.sleeper(until: bench.time.now + .seconds(5))
        asking.cancel()
        #expect(await asking.value.failureCode == .closed)

        #expect(bench.dialer.open.isEmpty)
        #expect(bench.simulated.openOperations == 1, "the publication alone")
        publication.cancel()
    }

    @Test("cancelled: an attempt that ends for that does not start the next")
    func cancelledStartsNothing() async throws {
        bench.dialer.set(bench.v6, .hangs)
        let instance = ServiceInstance(name: try ServiceName("tony"), type: try ServiceType("_witap._tcp"))
        let service = DiscoveredService(
            instance: instance, interfaces: [eth0], state: .resolved,
            endpoints: [try endpoint("fe80::1%2"), try endpoint("10.0.0.1")])
        let task = Task { await bench.connector().establish(.service(service)) }
        await bench.dialer.dialled(atLeast: 1)
        task.cancel()
        #expect(await task.value.failureCode == .closed)
        #expect(bench.dialer.dialled == ["fe80::1"])
    }

    @Test("any service of a type: one that is dead does not keep another from being used")
    func anyOfAType() async throws {
        let (_, first) = try bench.publish("anna")
        let (_, second) = try bench.publish("tony")
        bench.dialer.set(bench.v6, .refuses)
        let establishment = await bench.connector().establish(.any(try ServiceType("_witap._tcp")))
        #expect(try establishment.result.get() == "10.0.0.1")
        first.cancel()
        second.cancel()
    }
}
