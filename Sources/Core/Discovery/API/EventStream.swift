public import DNSSD

/// A stream of what is found, changes and goes. Cold: iterating queries the network, and every iterator sees everything
/// from the start.
///
/// Dropping the iterator or cancelling its task stops the query. Only the difference between what the iterator returned
/// and the current state is buffered, so a slow or idle iterator costs no more than what exists.
public struct EventStream<Event: Sendable>: AsyncSequence, Sendable {
    /// `.closed` after the network was shut down; `.invalidServiceType` where a type was a literal that is none.
    public typealias Failure = DiscoveryError

    /// Waits for events; an empty list when the deadline passes first, nil when the task is cancelled.
    typealias Take = @Sendable (_ limit: Int, _ deadline: Duration?) async throws(DiscoveryError) -> [Event]?

    private let open: @Sendable () -> Take

    init<Value: Listed>(
        _ event: @escaping @Sendable (Change<Value>) -> Event?,
        subscribe: @escaping @Sendable () -> Subscription<Value>
    ) {
        open = {
            let subscription = subscribe()
            return { limit, deadline async throws(DiscoveryError) in
                while let changes = try await subscription.next(atMost: limit, until: deadline) {
                    let events = changes.compactMap(event)
                    // An empty list means that the deadline has passed.
                    if changes.isEmpty || !events.isEmpty { return events }
                }
                return nil
            }
        }
    }

    /// A stream that throws the same error each time.
    init(failing error: DiscoveryError) {
        open = { { _, _ async throws(DiscoveryError) in throw error } }
    }

    /// Starts the query.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(take: open()) }

    /// Returns the events one after another; for one task at a time.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let take: Take

        /// The next event; nil when the task is cancelled.
        public mutating func next() async throws(DiscoveryError) -> Event? {
            try await nextBatch(atMost: 1)?.first
        }

        /// The next event; nil when the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(DiscoveryError) -> Event? {
            try await nextBatch(atMost: 1)?.first
        }

        /// Waits for an event and returns it with all others that are ready, up to `limit`; nil when the task is
        /// cancelled.
        /// - Parameter limit: the most events; less than 1 counts as 1.
        /// - Throws: why the query cannot go on; then the stream is over.
        public mutating func nextBatch(atMost limit: Int) async throws(DiscoveryError) -> [Event]? {
            try await take(Swift.max(1, limit), nil)
        }

        /// Like `nextBatch`, but returns an empty list when `deadline` passes first.
        package mutating func nextBatch(
            atMost limit: Int,
            until deadline: Duration?
        ) async throws(DiscoveryError) -> [Event]? {
            try await take(limit, deadline)
        }

        /// What keeps the query open.
        package var query: any Sendable { take }
    }
}

extension EventStream where Event == ServiceEvent {
    init(subscribe: @escaping @Sendable () -> Subscription<DiscoveredService>) {
        self.init({ $0 }, subscribe: subscribe)
    }
}

/// The events of services.
public typealias ServiceEvents = EventStream<ServiceEvent>
/// The events of service types.
public typealias TypeEvents = EventStream<ServiceTypeEvent>
/// The events of domains.
public typealias DomainEvents = EventStream<DomainEvent>
/// Whether the backend answers: `available` or `unavailable` first, then `lost` and `recovered` in turn.
public typealias BackendStates = EventStream<BackendState>
