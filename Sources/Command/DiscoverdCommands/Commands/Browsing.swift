#if Commands
internal import CommandFrame
internal import DNSSD
internal import Discovery

/// What becomes of the services that a query finds.
protocol ServiceSink {
    /// Takes what has happened in the meantime to the services that are wanted. `settled` comes once, when the list of every stream is
    /// complete.
    /// - Returns: the command's status, if it has ended.
    mutating func take(_ events: [ServiceEvent]) async throws -> ExitStatus?

    /// Nothing more comes.
    mutating func end() async throws
}

/// Runs a query: the one way of `browse`, with or without a live table, and of `wait`. Filters what the streams report, follows what
/// answers, and gives the rest to a sink.
struct Browsing: Sendable {
    /// How it ended.
    struct End: Sendable {
        /// The sink's last word; nil where the streams ended, or something ended the command.
        let status: ExitStatus?
        let gate: BackendGate
        /// How many services were there that the filter does not allow.
        let others: Int

        /// The command's status.
        /// - Parameter found: what the command is for was found.
        func status(found: Bool, in session: Session) async throws -> ExitStatus {
            if let status { return status }
            return try await session.status(found: found, backend: gate)
        }
    }

    private let query: BrowseQuery
    private let network: LocalNetwork
    private let stop: Stop
    private var gate: BackendGate
    /// Streams whose first list is not complete yet.
    private var unsettled: Set<Int> = []
    private var filtered: FilteredEvents

    init(_ query: BrowseQuery, in session: Session) {
        (self.query, network, stop) = (query, session.network, session.stop)
        filtered = FilteredEvents(query.filter)
        gate = BackendGate(session)
    }

    mutating func run(into sink: inout some ServiceSink) async throws -> End {
        let streams = query.streams(over: network)
        unsettled = Set(streams.indices)
        // A batch is everything that happened in the meantime. Writing it at once keeps system calls few on a busy network.
        let status = try await MergedEvents(streams).first(unless: stop) { index, batch in
            try await sink.take(batch.compactMap { event(of: $0, from: index) })
        }
        if status == nil { try await sink.end() }
        return End(status: status, gate: gate, others: filtered.others)
    }

    /// What an event means to a sink that sees only wanted services; nil if nothing.
    private mutating func event(of event: ServiceEvent, from stream: Int) -> ServiceEvent? {
        switch event {
        case .found, .changed: gate.answered()
        case .settled:
            gate.answered()
            return unsettled.remove(stream) != nil && unsettled.isEmpty ? event : nil
        case .backend(let state): gate.note(state, of: query.domain(stream), stream: stream)
        case .lost, .degraded: break
        }
        return filtered.event(event)
    }
}

/// Which services are looked for, and which of those found are wanted. A value: the options of a command say it, or the words of a
/// command line that is short enough (`BrowseWords`).
struct BrowseQuery {
    /// None for every type.
    let types: [ServiceType]
    var domains: [Domain] = [.local]
    var interfaces = InterfaceFilter.all
    /// Nil for both.
    var family: IPAddress.Family?
    var resolution = ServiceQuery.Resolution.none
    var filter = ServiceFilter.everything

    /// A stream for each domain, type after type.
    func streams(over network: LocalNetwork) -> [ServiceEvents] {
        let kinds: [ServiceType?] = types.isEmpty ? [nil] : types
        return kinds.flatMap { type in
            domains.map { domain in
                type.map {
                    network.browse($0, in: domain, on: interfaces, over: family, resolution: resolution)
                } ?? network.browseAll(in: domain, on: interfaces, over: family, resolution: resolution)
            }
        }
    }
}

/// The events of several streams, a batch at a time, for a command that is done when it has read them. A stream is asked for more when its last
/// batch was taken, so that nothing piles up here.
struct MergedEvents<Event: Sendable> {
    private let streams: [EventStream<Event>]
    private static var batchLimit: Int { 512 }

    init(_ streams: [EventStream<Event>]) { self.streams = streams }

    /// Calls `body` with each batch and the number of its stream, until it returns a result, every stream has ended, or the command is to end.
    func first<Result>(unless stop: Stop, _ body: (Int, [Event]) async throws -> Result?) async throws -> Result? {
        do { return try await first(leftTo: stop, body) } catch is DiscoveryError where stop.isRequested { return nil }
    }

    private func first<Result>(
        leftTo stop: Stop, _ body: (Int, [Event]) async throws -> Result?
    ) async throws -> Result? {
        if streams.count == 1, let stream = streams.first {
            var iterator = stream.makeAsyncIterator()
            stop.leave(iterator.query)
            while let batch = try await iterator.nextBatch(atMost: Self.batchLimit) {
                if let result = try await body(0, batch) { return result }
            }
            return nil
        }
        let turns = streams.map { _ in AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1)) }
        // One batch of each stream at most waits here.
        let (batches, collector) = AsyncThrowingStream<(Int, [Event]), any Error>.makeStream(
            bufferingPolicy: .bufferingNewest(streams.count + 1))
        let task = Task {
            do {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for (index, stream) in streams.enumerated() {
                        let turn = turns[index].stream
                        group.addTask {
                            var events = stream.makeAsyncIterator()
                            var turns = turn.makeAsyncIterator()
                            while let batch = try await events.nextBatch(atMost: Self.batchLimit) {
                                collector.yield((index, batch))
                                if await turns.next() == nil { return }
                            }
                        }
                    }
                    try await group.waitForAll()
                }
                collector.finish()
            } catch {
                collector.finish(throwing: error)
            }
        }
        defer { task.cancel() }
        for try await (index, batch) in batches {
            if let result = try await body(index, batch) { return result }
            turns[index].continuation.yield()
        }
        return nil
    }
}
#endif
