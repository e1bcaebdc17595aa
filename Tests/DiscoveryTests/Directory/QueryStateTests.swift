import DNSSD
import Discovery
import Testing

private final class Operation: EngineOperation {
    func cancel() {}
    func cancel(waitingAtMost limit: Duration) async -> Bool { true }
}

@Suite struct QueryStateTests {
    @Test func theFirstOpensAndTheLastCloses() throws {
        var state = QueryState(Catalog(try typeQuery()))
        let operation = Operation()
        #expect(isOpen(state.joined(1).action))
        #expect(isNothing(state.joined(2).action))
        #expect(isNothing(state.opened(operation)))
        #expect(isNothing(state.left(1)))
        #expect(!state.isUnused)
        #expect(isClose(state.left(2), of: operation))
        #expect(state.isUnused)
    }

    @Test func anOperationThatOpensAfterEveryoneLeftIsClosed() throws {
        var state = QueryState(Catalog(try typeQuery()))
        let operation = Operation()
        _ = state.joined(1)
        #expect(isNothing(state.left(1)))
        #expect(isClose(state.opened(operation), of: operation))
    }

    @Test func whoComesLateIsToldWhatIsKnown() throws {
        var state = QueryState(Catalog(try typeQuery()))
        #expect(state.joined(1).welcome == [])
        _ = state.reported([.backend(.up), .appeared(try sighting("tony"))], now: .zero)
        _ = state.reported([.resolved(try resolution("tony"))], now: .zero)
        _ = state.reported([.appeared(try sighting("bob"))], now: .zero)
        #expect(state.joined(2).welcome.words == ["backend available", "+tony"])
        _ = state.reported([.resolved(try resolution("bob"))], now: .zero)
        _ = state.reported([.listed], now: .zero)
        _ = state.reported([.backend(.down("away"))], now: .zero)
        #expect(state.joined(3).welcome.words == ["backend lost", "+tony", "+bob", "settled"])
        _ = state.reported([.backend(.up)], now: .zero)
        // What appeared while the backend was away is not known yet.
        #expect(state.joined(4).welcome.words == ["backend available", "+tony", "+bob"])
        _ = state.reported([.appeared(try sighting("tony"))], now: .zero)
        _ = state.reported([.appeared(try sighting("carl"))], now: .zero)
        #expect(state.reported([.listed], now: .zero).words == [])
        #expect(state.reported([.resolved(try resolution("carl"))], now: .zero).words == ["+carl", "settled"])
        #expect(state.joined(5).welcome.words == ["backend available", "+tony", "+bob", "+carl", "settled"])
    }

    private func isOpen(_ action: QueryState<Catalog>.Action) -> Bool {
        if case .open = action { true } else { false }
    }

    private func isNothing(_ action: QueryState<Catalog>.Action) -> Bool {
        if case .nothing = action { true } else { false }
    }

    private func isClose(_ action: QueryState<Catalog>.Action, of operation: Operation) -> Bool {
        if case .close(let closed) = action { closed === operation } else { false }
    }
}
