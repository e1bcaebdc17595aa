public import DNSSD

/// What is found, changes and goes. Cold: iterating asks the network, and every iterator is told everything from the start.
///
/// Dropping the iterator or cancelling its task stops asking. Nothing is buffered but the difference between what the
/// iterator gave and what is, so one that is slow, or stands still, costs no more than what exists.
public struct ServiceEvents: AsyncSequence, Sendable {
    /// `.closed` after the network was shut down.
    public typealias Failure = DiscoveryError

    let subscribe: @Sendable () -> Subscription<DiscoveredService>

    /// Starts asking.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(subscription: subscribe()) }

    /// Gives the events one after another; for one task at a time.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let subscription: Subscription<DiscoveredService>

        /// The next event; nil when the task is cancelled.
        public mutating func next() async throws(DiscoveryError) -> ServiceEvent? {
            try await nextBatch(atMost: 1)?.first
        }

        /// The next event; nil when the task is cancelled.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(DiscoveryError) -> ServiceEvent? {
            try await nextBatch(atMost: 1)?.first
        }

        /// Waits for an event and returns it with all that are there, `limit` at most; nil when the task is cancelled.
        public mutating func nextBatch(atMost limit: Int) async throws(DiscoveryError) -> [ServiceEvent]? {
            try await subscription.next(atMost: Swift.max(1, limit))?.map(ServiceEvent.init)
        }

        /// As `nextBatch`, but an empty list when `deadline` passes first.
        package mutating func nextBatch(
            atMost limit: Int,
            until deadline: Duration
        ) async throws(DiscoveryError) -> [ServiceEvent]? {
            try await subscription.next(atMost: limit, until: deadline)?.map(ServiceEvent.init)
        }

        /// What can be told at this time, without waiting.
        package mutating func pending() -> [ServiceEvent] {
            subscription.takePending(atMost: .max).map(ServiceEvent.init)
        }
    }
}
