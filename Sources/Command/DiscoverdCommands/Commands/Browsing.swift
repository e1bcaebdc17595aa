#if Commands
internal import CommandFrame
internal import DNSSD
internal import Discovery

/// What becomes of the services that a query finds.
protocol ServiceSink {
    /// Takes what has happened in the meantime to the services that are wanted. `settled` comes once, when the list of every stream is
    /// complete.
    /// - Returns: the command's status where it is over.
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
        do {
            // A batch is everything that happened in the meantime. Writing it at once keeps system calls few on a busy network.
            let status = try await MergedEvents(streams).first { index, batch in
                try await sink.take(batch.compactMap { event(of: $0, from: index) })
            }
            if let status { return End(status: status, gate: gate) }
        } catch is DiscoveryError where stop.cause != nil {
            // The stream ended because the command is ending.
        }
        try await sink.end()
        return End(status: nil, gate: gate)
    }

    /// What an event means for who sees only what is wanted; nil if nothing.
    private mutating func event(of event: ServiceEvent, from stream: Int) -> ServiceEvent? {
        switch event {
        case .found, .changed: gate.answered()
        case .settled:
            gate.answered()
            return unsettled.remove(stream) != nil && unsettled.isEmpty ? event : nil
        case .backend(let state): gate.note(state, of: query.subject.domain(stream), stream: stream)
        case .lost, .degraded: break
        }
        return filtered.event(event)
    }
}
#endif
