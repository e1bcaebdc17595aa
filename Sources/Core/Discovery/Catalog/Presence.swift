/// The paths on which something is seen. The end of a path is held back, because the path often comes back at once.
package struct Presence<Path: Hashable & Sendable>: Sendable {
    private enum Status: Hashable {
        case seen
        /// Seen before the backend went away, and not since.
        case unconfirmed
        case held(until: Duration)
    }

    private var statuses = SmallMap<Path, Status>()

    package init() {}

    /// All current paths, including held ones.
    package var paths: some Collection<Path> { statuses.keys }
    package var isEmpty: Bool { statuses.isEmpty }

    /// Seen on a path whose end has not been reported.
    package var isLive: Bool {
        statuses.values.contains { status in
            if case .held = status { false } else { true }
        }
    }

    package var nextDeadline: Duration? {
        statuses.values.compactMap { status in
            if case .held(let until) = status { until } else { nil }
        }.min()
    }

    package mutating func appeared(_ path: Path) { statuses[path] = .seen }

    package mutating func disappeared(_ path: Path, holdUntil deadline: Duration) {
        switch statuses[path] {
        case .seen, .unconfirmed: statuses[path] = .held(until: deadline)
        case .held, nil: break
        }
    }

    /// The current state is unknown, so nothing ends until the backend is back, not even held paths.
    package mutating func backendLost() {
        statuses.updateValues { $0 = .unconfirmed }
    }

    /// The backend has reported all it knows: what it did not repeat is probably gone.
    /// - Returns: whether there is such a path.
    @discardableResult package mutating func listed(holdUntil deadline: Duration) -> Bool {
        guard statuses.values.contains(.unconfirmed) else { return false }
        statuses.updateValues { if $0 == .unconfirmed { $0 = .held(until: deadline) } }
        return true
    }

    package mutating func expire(_ now: Duration) {
        statuses.removeAll { status in
            if case .held(let until) = status { until <= now } else { false }
        }
    }
}

/// A dictionary of one or a few pairs, of which there are thousands. Stores its pairs side by side; a `Dictionary` of
/// one pair takes half a kilobyte.
struct SmallMap<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private var pairs: [(key: Key, value: Value)] = []

    var isEmpty: Bool { pairs.isEmpty }
    var keys: some Collection<Key> { pairs.lazy.map(\.key) }
    var values: some Collection<Value> { pairs.lazy.map(\.value) }

    private func place(of key: Key) -> Int? { pairs.firstIndex { $0.key == key } }

    func contains(_ key: Key) -> Bool { place(of: key) != nil }

    subscript(key: Key) -> Value? {
        get { place(of: key).map { pairs[$0].value } }
        set {
            switch (place(of: key), newValue) {
            case (let place?, let value?): pairs[place].value = value
            case (let place?, nil): pairs.remove(at: place)
            case (nil, let value?):
                if pairs.isEmpty { pairs.reserveCapacity(1) }
                pairs.append((key, value))
            case (nil, nil): break
            }
        }
    }

    subscript(key: Key, default value: @autoclosure () -> Value) -> Value {
        get { self[key] ?? value() }
        set { self[key] = newValue }
    }

    func filter(_ isIncluded: (Value) -> Bool) -> [(key: Key, value: Value)] {
        pairs.filter { isIncluded($0.value) }
    }

    mutating func updateValues(_ body: (inout Value) -> Void) {
        for place in pairs.indices { body(&pairs[place].value) }
    }

    mutating func removeAll(where isOver: (Value) -> Bool) {
        if pairs.contains(where: { isOver($0.value) }) { pairs.removeAll { isOver($0.value) } }
    }
}
