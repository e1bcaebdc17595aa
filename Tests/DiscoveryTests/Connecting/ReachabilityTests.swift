import DNSSD
import Discovery
import DiscoveryTesting
import Testing

@Suite("Failed dials teach", .timeLimit(.minutes(5)))
struct ReachabilityTests {
    private let bench: ConnectorBench

    init() throws { bench = try ConnectorBench() }

    @Test("a service that cannot be reached is unreachable for all, and resolved again when it answers")
    func failedDialsTeach() async throws {
        bench.dialer.set(bench.v4, .refuses)
        bench.dialer.set(bench.v6, .refuses)
        let (instance, publication) = try bench.publish()
        var events = bench.network.browse(instance.type).makeAsyncIterator()
        while let event = try await events.next(), event != .settled {}
        let first = await bench.connector().establish(.instance(instance))
        #expect(first.failureCode == .unreachable)
        guard case .changed(let dead)? = try await events.next() else {
            Issue.record("no change")
            return
        }
        #expect(dead.state == .unreachable && !dead.endpoints.isEmpty)

        // A later caller gets the verdict too, without a long wait.
        bench.dialer.set(bench.v4, .hangs)
        bench.dialer.set(bench.v6, .hangs)
        let task = Task { await bench.connector().establish(.instance(instance)) }
        await bench.dialer.dialled(atLeast: 3)
        await bench.time.sleeper(until: .milliseconds(100))
        bench.time.advance(by: .milliseconds(100))
        await bench.dialer.dialled(atLeast: 4)
        await bench.time.sleeper(until: .seconds(1))
        bench.time.advance(by: .milliseconds(900))
        let second = await task.value
        #expect(second.failureCode == .unreachable)
        #expect(second.report.service?.state == .unreachable)
        #expect(second.report.duration == .seconds(1))

        // Retried after 1 s; the second address is dialled 250 ms later.
        await bench.dialer.dialled(atLeast: 5)
        bench.dialer.set(bench.v4, .answers)
        bench.dialer.set(bench.v6, .answers)
        await bench.time.sleeper(until: .milliseconds(1250))
        bench.time.advance(by: .milliseconds(250))
        guard case .changed(let back)? = try await events.next() else {
            Issue.record("no second change")
            return
        }
        #expect(back.state == .resolved)
        #expect(bench.dialer.open.isEmpty, "what tried it was closed")
        publication.cancel()
    }

    @Test("a successful connection clears the mark immediately")
    func successClears() async throws {
        bench.dialer.set(bench.v4, .refuses)
        bench.dialer.set(bench.v6, .refuses)
        let (instance, publication) = try bench.publish()
        _ = await bench.connector().establish(.instance(instance))
        #expect(bench.network.directory.reachability.marked == [instance])
        bench.dialer.set(bench.v4, .answers)
        _ = await bench.connector().establish(.instance(instance))
        #expect(bench.network.directory.reachability.marked.isEmpty)
        publication.cancel()
    }

    @Test("tried again a second after the mark, however late its task begins")
    func lateTask() async throws {
        let (tries, sink) = AsyncStream.makeStream(of: Duration.self)
        for number in 0..<20 {
            bench.network.directory.couldNotReach(
                ServiceInstance(name: try ServiceName("s\(number)"), type: try ServiceType("_witap._tcp"))
            ) { [bench] in
                sink.yield(bench.time.now)
                return true
            }
        }
        bench.time.advance(by: .seconds(1))
        var all: [Duration] = []
        for await time in tries.prefix(20) { all.append(time) }
        #expect(all == Array(repeating: .seconds(1), count: 20))
    }

    @Test("marks end with the network, and are bounded")
    func marksAreBounded() async throws {
        for number in 0..<100 {
            let instance = ServiceInstance(name: try ServiceName("s\(number)"), type: try ServiceType("_witap._tcp"))
            let service = DiscoveredService(
                instance: instance, interfaces: [eth0], state: .resolved, endpoints: [try endpoint("10.0.0.1")])
            bench.dialer.set(bench.v4, .refuses)
            _ = await bench.connector().establish(.service(service))
        }
        #expect(bench.network.directory.reachability.marked.count == Reachability.capacity)
        await bench.network.shutdown()
        #expect(bench.network.directory.reachability.marked.isEmpty)
    }
}
