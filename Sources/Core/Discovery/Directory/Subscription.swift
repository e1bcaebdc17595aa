import DNSSD

/// Ties an iterator's subscriber to its memberships, which end with it.
final class Subscription<Value: Listed>: Sendable {
    let subscriber: Subscriber<Value>
    private let tick: @Sendable () -> Void
    private let leave: @Sendable () -> Void

    init(
        _ subscriber: Subscriber<Value>,
        tick: @escaping @Sendable () -> Void,
        leave: @escaping @Sendable () -> Void
    ) {
        self.subscriber = subscriber
        self.tick = tick
        self.leave = leave
    }

    deinit { leave() }

    /// Leaves the query; may be called more than once.
    func end() { leave() }

    /// Returns what `Subscriber.next` does, and leaves the query if the task is cancelled.
    func next(atMost limit: Int, until deadline: Duration? = nil) async throws(DiscoveryError) -> [Change<Value>]? {
        let changes = try await subscriber.next(atMost: limit, until: deadline)
        if changes == nil { leave() }
        return changes
    }

    /// Returns the changes that are ready, even if the alarm has not fired yet.
    func takePending(atMost limit: Int) -> [Change<Value>] {
        tick()
        return subscriber.takePending(atMost: limit)
    }
}

extension QueryTable {
    func subscribe(_ question: Question, _ subscriber: Subscriber<Facts.Value>) -> Subscription<Facts.Value> {
        let membership = join(question, subscriber)
        return Subscription(
            subscriber,
            tick: { self.tick(question) },
            leave: { membership.leave() }
        )
    }
}
