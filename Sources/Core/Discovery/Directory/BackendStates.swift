import DNSSD
import DiscoveryPOSIX

extension Directory {
    /// Follows the state of the engine's backend without opening a query.
    func watchBackend() -> Subscription<NoListing> {
        let subscriber: Subscriber<NoListing> = makeSubscriber()
        let watch = Locked(BackendWatch())
        let operation = engine.watchState { [time] state in
            guard let news = watch.withLock({ $0.became(state) }) else { return }
            subscriber.receive([.backend(news)], now: time.now)?()
        }
        let id = watchers.withLock { watchers -> UInt64? in
            guard !watchers.isClosed else { return nil }
            watchers.lastID += 1
            watchers.subscribers[watchers.lastID] = subscriber
            return watchers.lastID
        }
        if id == nil { subscriber.shutDown()?() }
        let leave: @Sendable () -> Void = { [watchers] in
            operation.cancel()
            if let id { watchers.withLock { $0.subscribers[id] = nil } }
        }
        return Subscription(subscriber, tick: {}, leave: leave)
    }

    func shutDownWatchers() {
        let subscribers = watchers.withLock { watchers in
            watchers.isClosed = true
            defer { watchers.subscribers = [:] }
            return Array(watchers.subscribers.values)
        }
        for subscriber in subscribers { subscriber.shutDown()?() }
    }
}

/// The subscribers that follow the backend.
struct BackendWatchers: Sendable {
    var lastID: UInt64 = 0
    var subscribers: [UInt64: Subscriber<NoListing>] = [:]
    var isClosed = false
}

/// The value of a stream that reports only states of the backend.
package enum NoListing: Listed {
    package var key: Never { switch self {} }
}
