package import DNSSD

/// When what labels want may begin, so that what flaps is not told each time. A value with virtual time.
package struct LabelPace: Sendable {
    /// A service of a container or unit, over its restarts.
    package struct Key: Hashable, Sendable {
        let name: String
        let instance: ServiceInstance

        package init(name: String, _ instance: ServiceInstance) { (self.name, self.instance) = (name, instance) }
    }

    private enum State: Hashable {
        case since(Duration, pause: Duration)
        case until(Duration, pause: Duration)
    }

    /// How long an end is waited for, the first time and at most.
    package static let pauses = (first: Duration.seconds(1), longest: Duration.seconds(60))
    /// What has stayed as long begins at once the next time.
    package static let steady = Duration.seconds(60)
    /// As many begin at once, and as many in a second after them.
    package static let burst = 64.0, rate = 16.0
    /// What has ended and is remembered.
    private static let maximumEnded = 2048

    private var states: [Key: State] = [:]
    private var ended = 0
    private var beginnings = TokenBucket(burst: LabelPace.burst, perSecond: LabelPace.rate)

    package init() {}

    /// What has begun and not ended.
    package var begun: Set<Key> {
        Set(states.filter { if case .since = $0.value { true } else { false } }.keys)
    }

    package func hasBegun(_ key: Key) -> Bool { if case .since = states[key] { true } else { false } }

    /// Begins one.
    /// - Returns: nil, or when to ask again.
    package mutating func begin(_ key: Key, at now: Duration) -> Duration? {
        var pause = Duration.zero
        switch states[key] {
        case .since: return nil
        case .until(let end, _) where end > now: return end
        case .until(let end, let last): pause = now - end > Self.steady ? .zero : last
        case nil: break
        }
        guard beginnings.take(at: now) else { return beginnings.next(at: now) }
        if states.updateValue(.since(now, pause: pause), forKey: key) != nil { ended -= 1 }
        return nil
    }

    /// It is no longer there.
    package mutating func end(_ key: Key, at now: Duration) {
        guard case .since(let start, let last) = states[key] else { return }
        let isSteady = now - start >= Self.steady
        let pause = isSteady || last == .zero ? Self.pauses.first : min(last * 2, Self.pauses.longest)
        states[key] = .until(now + pause, pause: pause)
        ended += 1
        guard ended > Self.maximumEnded else { return }
        let old = states.filter { if case .until(let end, _) = $0.value { end < now } else { false } }
        // Where all still wait, some names are told sooner than they would be.
        for key in old.isEmpty ? Array(states.keys.filter { !hasBegun($0) }) : Array(old.keys) { states[key] = nil }
        ended = states.count - begun.count
    }
}
