import DNSSD
import Discovery
import DiscoveryTesting
import Testing

@Suite("The connector", .timeLimit(.minutes(1)))
struct ConnectorTests {
    private let time = TestTime()
    private let dialer = FakeDialer()
    private let network: LocalNetwork
    private let simulated: SimulatedNetwork
    private let publisher: SimulatedEngine
    private let local: LocalAddresses
    private let v6: IPAddress
    private let v4: IPAddress

    init() throws {
        let simulated = SimulatedNetwork()
        publisher = try simulated.addMachine("h1")
        let engine = try simulated.addMachine("h2")
        self.simulated = simulated
        network = LocalNetwork(engine: engine, time: time)
        local = LocalAddresses(
            entries: [try entry("10.0.0.2", 24), try entry("fe80::2%2", 64), try entry("127.0.0.1", 8, on: lo)],
            loopbacks: [lo])
        v6 = try parsed("fe80::1%2")
        v4 = try parsed("10.0.0.1")
    }

    private func connector(_ policy: AddressPolicy = AddressPolicy()) -> Connector<FakeDialer> {
        Connector(network: network, dialer: dialer, policy: policy, localAddresses: { [local] in local })
    }

    private func publish(_ name: String = "tony") throws -> (target: ServiceInstance, publication: any EngineOperation) {
        let service = Service(
            name: try ServiceName(name), type: try ServiceType("_witap._tcp"), port: try Port(9000))
        let publication = publisher.publish(service, onConflict: .fail) { _ in }
        return (ServiceInstance(name: service.name, type: service.type), publication)
    }

    /// Runs until the end, turning the time on in steps whenever someone sleeps.
    private func finish<Result: Sendable>(
        _ task: Task<Result, Never>, step: Duration = .milliseconds(50)
    ) async -> Result {
        let turner = Task { [time] in
            while !Task.isCancelled {
                if time.sleepers > 0 { time.advance(by: step) }
                // Whoever woke goes on before time does.
                for _ in 0..<50 { await Task.yield() }
            }
        }
        let result = await task.value
        turner.cancel()
        await turner.value
        return result
    }

    @Test("the first address that answers is used, and the report says how it came about")
    func connects() async throws {
        let (instance, publication) = try publish()
        let establishment = await connector().establish(.instance(instance))
        #expect(try establishment.result.get() == "fe80::1")
        let report = establishment.report
        #expect(report.winner?.address == v6)
        #expect(report.source == .resolved && report.resolving == .zero)
        #expect(report.service?.instance == instance)
        #expect(report.attempts.map(\.outcome) == [.connected])
        publication.cancel()
    }

    @Test("RFC 8305 §5: a dead address costs 250 ms, and is closed without a trace")
    func deadFirst() async throws {
        dialer.set(v6, .hangs)
        let (instance, publication) = try publish()
        let task = Task { await connector().establish(.instance(instance)) }
        await dialer.dialled(atLeast: 1)
        await time.sleeper(until: .milliseconds(250))
        time.advance(by: .milliseconds(250))
        let establishment = await task.value
        #expect(try establishment.result.get() == "10.0.0.1")
        #expect(establishment.report.duration == .milliseconds(250))
        #expect(establishment.report.attempts.map(\.outcome) == [.cancelled, .connected])
        #expect(establishment.report.attempts.map(\.start) == [.zero, .milliseconds(250)])
        #expect(dialer.open == ["10.0.0.1"])
        publication.cancel()
    }

    @Test("a refused address costs nothing")
    func refusedFirst() async throws {
        dialer.set(v6, .refuses)
        let (instance, publication) = try publish()
        let establishment = await connector().establish(.instance(instance))
        #expect(establishment.report.winner?.address == v4)
        #expect(establishment.report.duration == .zero)
        #expect(establishment.report.attempts.map(\.outcome) == [.refused, .connected])
        publication.cancel()
    }

    @Test("a loser that connects although it lost is closed")
    func lateSuccess() async throws {
        dialer.set(v6, .hangsOn)
        let (instance, publication) = try publish()
        let task = Task { await connector().establish(.instance(instance)) }
        await dialer.dialled(atLeast: 1)
        await time.sleeper(until: .milliseconds(250))
        time.advance(by: .milliseconds(250))
        await dialer.dialled(atLeast: 2)
        dialer.answer(v6)
        let establishment = await task.value
        // Whichever was told first won; the other is closed.
        let winner = try establishment.result.get()
        #expect(dialer.open == [winner])
        #expect(dialer.closed.count == 1)
        publication.cancel()
    }

    @Test("what worked last time is dialled first; what failed, last")
    func remembers() async throws {
        dialer.set(v6, .refuses)
        let (instance, publication) = try publish()
        _ = await connector().establish(.instance(instance))
        _ = await connector().establish(.instance(instance))
        #expect(dialer.dialled == ["fe80::1", "10.0.0.1", "10.0.0.1"])
        publication.cancel()
    }

    @Test("nothing is dialled that the policy denies: not permitted, with every address and the reason")
    func denied() async throws {
        let (instance, publication) = try publish()
        let policy = AddressPolicy(deny: [try CIDR("10.0.0.0/8"), try CIDR("fe80::/10")])
        let establishment = await connector(policy).establish(.instance(instance))
        #expect(throws: DiscoveryError.self) { try establishment.result.get() }
        guard case .failure(let error) = establishment.result else { return }
        #expect(error.code == .notPermitted)
        #expect(error.message.contains("denied by 10.0.0.0/8"))
        #expect(establishment.report.attempts.map(\.outcome) == [.denied, .denied])
        #expect(dialer.dialled.isEmpty)
        publication.cancel()
    }

    @Test("one address denied and the other refused: unreachable")
    func mixed() async throws {
        dialer.set(v4, .refuses)
        let (instance, publication) = try publish()
        let policy = AddressPolicy(deny: [try CIDR("fe80::/10")])
        let establishment = await connector(policy).establish(.instance(instance))
        #expect(establishment.failureCode == .unreachable)
        #expect(establishment.report.attempts.map(\.outcome) == [.denied, .refused])
        publication.cancel()
    }

    @Test("addresses are judged again at the moment of the dial")
    func judgedTwice() async throws {
        let (instance, publication) = try publish()
        let asked = Locked(0)
        let before = local
        let after = LocalAddresses(
            entries: before.entries + [try entry("10.0.0.1", 24), try entry("fe80::1%2", 64)], loopbacks: [lo])
        let connector = Connector(
            network: network, dialer: dialer,
            localAddresses: {
                asked.withLock { count in
                    count += 1
                    return count == 1 ? before : after
                }
            })
        let task = Task { await connector.establish(.instance(instance)) }
        let establishment = await finish(task)
        #expect(establishment.failureCode != nil)
        #expect(dialer.dialled.isEmpty, "both have become this machine's own")
        publication.cancel()
    }

    @Test("a service that nobody announces: not found, after 5 s")
    func notFound() async throws {
        let instance = ServiceInstance(name: try ServiceName("nobody"), type: try ServiceType("_witap._tcp"))
        let establishment = await finish(Task { await connector().establish(.instance(instance)) })
        #expect(establishment.failureCode == .notFound)
        #expect(establishment.report.duration >= .seconds(5) && establishment.report.duration < .seconds(6))
        #expect(establishment.report.attempts.isEmpty)
    }

    @Test("a backend that is not there: after 2 s")
    func noBackend() async throws {
        simulated.stopBackend(of: "h2")
        let instance = ServiceInstance(name: try ServiceName("tony"), type: try ServiceType("_witap._tcp"))
        let establishment = await finish(Task { await connector().establish(.instance(instance)) })
        #expect(establishment.failureCode == .backendUnavailable)
        #expect(establishment.report.duration < .seconds(3))
    }

    @Test("RFC 6763 §8: SRV port 0 is not offered, and never dialled")
    func portZero() async throws {
        let instance = ServiceInstance(name: try ServiceName("tony"), type: try ServiceType("_witap._tcp"))
        let service = DiscoveredService(instance: instance, interfaces: [eth0], state: .unavailable)
        let establishment = await connector().establish(.service(service))
        #expect(establishment.failureCode == .unreachable)
        #expect(dialer.dialled.isEmpty)
    }

    @Test("all dead: at the limit, every attempt in the report")
    func allDead() async throws {
        dialer.set(v4, .hangs)
        dialer.set(v6, .hangs)
        let (instance, publication) = try publish()
        let establishment = await finish(Task { await connector().establish(.instance(instance)) })
        #expect(establishment.failureCode == .unreachable)
        #expect(establishment.report.duration >= .seconds(10) && establishment.report.duration < .milliseconds(10_100))
        #expect(establishment.report.attempts.map(\.outcome) == [.timeout, .timeout])
        #expect(dialer.open.isEmpty)
        publication.cancel()
    }

    @Test("cancelled while it asks, and while it dials: nothing is left")
    func cancelled() async throws {
        dialer.set(v4, .hangs)
        dialer.set(v6, .hangs)
        let (instance, publication) = try publish()
        let dialling = Task { await connector().establish(.instance(instance)) }
        await dialer.dialled(atLeast: 1)
        dialling.cancel()
        #expect(await dialling.value.failureCode == .closed)

        let nobody = ServiceInstance(name: try ServiceName("nobody"), type: try ServiceType("_witap._tcp"))
        let asking = Task { await connector().establish(.instance(nobody)) }
        await time.sleeper(until: time.now + .seconds(5))
        asking.cancel()
        #expect(await asking.value.failureCode == .closed)

        #expect(dialer.open.isEmpty)
        #expect(simulated.openOperations == 1, "the publication alone")
        publication.cancel()
    }

    @Test("any service of a type: one that is dead does not keep another from being used")
    func anyOfAType() async throws {
        let (_, first) = try publish("anna")
        let (_, second) = try publish("tony")
        dialer.set(v6, .refuses)
        let establishment = await connector().establish(.any(try ServiceType("_witap._tcp")))
        #expect(try establishment.result.get() == "10.0.0.1")
        first.cancel()
        second.cancel()
    }

    @Test("a service that cannot be reached is unreachable for all, and resolved again when it answers")
    func failedDialsTeach() async throws {
        dialer.set(v4, .refuses)
        dialer.set(v6, .refuses)
        let (instance, publication) = try publish()
        var events = network.browse(instance.type).makeAsyncIterator()
        while case .found? = try await events.next() {}
        let first = await connector().establish(.instance(instance))
        #expect(first.failureCode == .unreachable)
        guard case .changed(let dead)? = try await events.next() else {
            Issue.record("no change")
            return
        }
        #expect(dead.state == .unreachable && !dead.endpoints.isEmpty)

        // Who comes later is told, too, and does not wait long.
        dialer.set(v4, .hangs)
        dialer.set(v6, .hangs)
        let second = await finish(Task { await connector().establish(.instance(instance)) }, step: .milliseconds(20))
        #expect(second.failureCode == .unreachable)
        #expect(second.report.service?.state == .unreachable)
        #expect(second.report.duration < .milliseconds(1200))

        dialer.set(v4, .answers)
        dialer.set(v6, .answers)
        let isBack = Task { () -> DiscoveredService.State? in
            guard case .changed(let service)? = try? await events.next() else { return nil }
            return service.state
        }
        #expect(await finish(isBack) == .resolved)
        #expect(dialer.open.isEmpty, "what tried it was closed")
        publication.cancel()
    }

    @Test("a connection made clears the mark at once")
    func successClears() async throws {
        dialer.set(v4, .refuses)
        dialer.set(v6, .refuses)
        let (instance, publication) = try publish()
        _ = await connector().establish(.instance(instance))
        #expect(network.directory.reachability.marked == [instance])
        dialer.set(v4, .answers)
        _ = await connector().establish(.instance(instance))
        #expect(network.directory.reachability.marked.isEmpty)
        publication.cancel()
    }

    @Test("marks end with the network, and are bounded")
    func marksAreBounded() async throws {
        for number in 0..<100 {
            let instance = ServiceInstance(name: try ServiceName("s\(number)"), type: try ServiceType("_witap._tcp"))
            let service = DiscoveredService(
                instance: instance, interfaces: [eth0], state: .resolved, endpoints: [try endpoint("10.0.0.1")])
            dialer.set(v4, .refuses)
            _ = await connector().establish(.service(service))
        }
        #expect(network.directory.reachability.marked.count == Reachability.capacity)
        await network.shutdown()
        #expect(network.directory.reachability.marked.isEmpty)
    }
}

extension Establishment {
    var failureCode: DiscoveryError.Code? {
        if case .failure(let error) = result { error.code } else { nil }
    }
}
