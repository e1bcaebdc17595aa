import DNSSD
import DiscoverySystem
import DiscoveryTesting
import Testing

@testable import Discovery

/// The publication of an engine that cannot change a TXT record: the service is published again.
@Suite struct PublicationCoreTests {
    /// An operation whose withdrawals end when the test says so.
    private final class Operation: PublicationOperation {
        let cancels: AsyncStream<CheckedContinuation<Void, Never>>
        private let sink: AsyncStream<CheckedContinuation<Void, Never>>.Continuation
        private let count = Locked(0)

        init() { (cancels, sink) = AsyncStream.makeStream() }

        var isCancelled: Bool { count.withLock { $0 > 0 } }

        func cancel() { count.withLock { $0 += 1 } }

        func cancel(waitingAtMost limit: Duration) async -> Bool {
            cancel()
            await withCheckedContinuation { continuation in _ = sink.yield(continuation) }
            return true
        }
    }

    private let opened = Locked<[Operation]>([])
    private let core: PublicationCore

    init() throws {
        let service = OfferedService(
            name: try ServiceName("tony"), type: try ServiceType("_witap._tcp"), port: try Port(9000))
        core = PublicationCore(service: service, time: TestTime())
        core.start { [opened] _, _ in
            let operation = Operation()
            opened.withLock { $0.append(operation) }
            return operation
        }
    }

    @Test("another port is published again, and a change that comes meanwhile has it, too")
    func anotherPort() async throws {
        let first = try #require(opened.withLock { $0.first })
        var cancels = first.cancels.makeAsyncIterator()
        let (port, txt) = (try Port(9001), try TXTRecord(["v": "2"]))
        let change = Task { [core] in await core.update(port: port, txt: TXTRecord()) }
        let changes = try #require(await cancels.next())
        #expect(core.service.port == port)
        let later = Task { [core] in await core.update(txt: txt) }
        changes.resume()
        #expect(await change.value)
        let second = try #require(opened.withLock { $0.last })
        var again = second.cancels.makeAsyncIterator()
        try #require(await again.next()).resume()
        #expect(await later.value)
        #expect(core.service.port == port && core.service.txt == txt)
        #expect(opened.withLock { $0.map(\.isCancelled) } == [true, true, false])
    }

    @Test func aChangeOfTXTThatMeetsTheWithdrawalPublishesNothing() async throws {
        let first = try #require(opened.withLock { $0.first })
        var cancels = first.cancels.makeAsyncIterator()
        let txt = try TXTRecord(["v": "2"])
        let change = Task { [core] in await core.update(txt: txt) }
        let changes = try #require(await cancels.next())
        let withdrawal = Task { [core] in await core.withdraw(waitingAtMost: .seconds(5)) }
        let withdraws = try #require(await cancels.next())
        changes.resume()
        #expect(await change.value)
        withdraws.resume()
        #expect(await withdrawal.value)
        #expect(opened.withLock { $0.allSatisfy(\.isCancelled) })
        #expect(core.status.state == .withdrawn)
    }
}
