import DNSSD
import Discovery
import DiscoverySystem
import DiscoveryTesting
import Testing

private final class Operation: EngineOperation {
    private let count = Locked(0)

    var cancellations: Int { count.withLock { $0 } }

    func cancel() { count.withLock { $0 += 1 } }
    func cancel(waitingAtMost limit: Duration) async -> Bool { true }
}

@Suite struct QueryTableTests {
    private let clock = TestTime()

    /// A table whose operations `open` makes.
    private func table(_ open: @escaping @Sendable () -> Operation) -> QueryTable<ServiceQuery, Catalog> {
        QueryTable(
            time: clock, alarmClock: AlarmClock(time: clock), makeCatalog: { Catalog($0) }, open: { _, _ in open() })
    }

    private func listener() -> Subscriber<DiscoveredService> {
        Subscriber(time: clock, alarmClock: AlarmClock(time: clock))
    }

    @Test func theFirstOpensAndTheLastCloses() throws {
        let opened = Locked<[Operation]>([])
        let table = table {
            let operation = Operation()
            opened.withLock { $0.append(operation) }
            return operation
        }
        var cancellations: [Int] { opened.withLock { $0.map(\.cancellations) } }
        let first = table.join(try typeQuery(), listener())
        let second = table.join(try typeQuery(), listener())
        #expect(cancellations == [0])
        first.leave()
        #expect(cancellations == [0])
        second.leave()
        #expect(cancellations == [1])
        // Who comes after that opens it anew.
        let third = table.join(try typeQuery(), listener())
        second.leave()
        #expect(cancellations == [1, 0])
        third.leave()
        #expect(cancellations == [1, 1])
    }

    @Test func anOperationThatOpensAfterTheEndIsClosed() throws {
        let operation = Operation()
        let made = Locked<QueryTable<ServiceQuery, Catalog>?>(nil)
        let table = table {
            made.exchange(nil)?.shutDown()
            return operation
        }
        _ = made.exchange(table)
        let membership = table.join(try typeQuery(), listener())
        #expect(operation.cancellations == 1)
        membership.leave()
        #expect(operation.cancellations == 1)
    }

    @Test func whoComesLateIsToldWhatIsKnown() throws {
        var catalog = Catalog(try typeQuery())
        #expect(catalog.welcome == [])
        _ = catalog.apply([.backend(.up), .appeared(try sighting("tony"))], now: .zero)
        _ = catalog.apply([.resolved(try resolution("tony"))], now: .zero)
        _ = catalog.apply([.appeared(try sighting("bob"))], now: .zero)
        #expect(catalog.welcome.words == ["backend available", "+tony"])
        _ = catalog.apply([.resolved(try resolution("bob"))], now: .zero)
        _ = catalog.apply([.listed], now: .zero)
        _ = catalog.apply([.backend(.down("away"))], now: .zero)
        #expect(catalog.welcome.words == ["backend lost", "+tony", "+bob", "settled"])
        _ = catalog.apply([.backend(.up)], now: .zero)
        // What appeared while the backend was away is not known yet.
        #expect(catalog.welcome.words == ["backend available", "+tony", "+bob"])
        _ = catalog.apply([.appeared(try sighting("tony"))], now: .zero)
        _ = catalog.apply([.appeared(try sighting("carl"))], now: .zero)
        #expect(catalog.apply([.listed], now: .zero).words == [])
        #expect(catalog.apply([.resolved(try resolution("carl"))], now: .zero).words == ["+carl", "settled"])
        #expect(catalog.welcome.words == ["backend available", "+tony", "+bob", "+carl", "settled"])
    }
}

@Suite struct SubscriberTests {
    @Test func whatComesBeforeTheWaitIsNotSleptThrough() async throws {
        let clock = TestTime()
        let subscriber = Subscriber<DiscoveredService>(time: clock, alarmClock: AlarmClock(time: clock))
        // A look that found nothing, then news, then the next look.
        #expect(try await subscriber.next(atMost: 10, until: .zero) == [])
        subscriber.receive([.settled], now: .zero)?()
        #expect(try await subscriber.next(atMost: 10) == [.settled])
    }

    @Test func aWaiterThatIsCancelledReturns() async throws {
        let clock = TestTime()
        let subscriber = Subscriber<DiscoveredService>(time: clock, alarmClock: AlarmClock(time: clock))
        let task = Task { try await subscriber.next(atMost: 10) }
        task.cancel()
        #expect(try await task.value == nil)
        subscriber.receive([.settled], now: .zero)?()
        #expect(try await subscriber.next(atMost: 10) == nil)
    }

    @Test func aWaiterIsWokenAtItsDeadline() async throws {
        let clock = TestTime()
        let subscriber = Subscriber<DiscoveredService>(time: clock, alarmClock: AlarmClock(time: clock))
        let task = Task { try await subscriber.next(atMost: 10, until: .seconds(1)) }
        await clock.sleeper(until: .seconds(1))
        clock.advance(by: .seconds(1))
        #expect(try await task.value == [])
    }
}
