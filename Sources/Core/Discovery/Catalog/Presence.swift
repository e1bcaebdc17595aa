/// The paths on which something is seen. The end of a path is held back, because the path often comes back at once.
package struct Presence<Path: Hashable & Sendable>: Sendable {
    private enum Status: Equatable {
        case seen
        /// Seen before the backend went away, and not since.
        case unconfirmed
        case held(until: Moment)
    }

    /// The only one of most: it takes no memory of its own.
    private var first: (path: Path, status: Status)?
    private var others = SmallMap<Path, Status>()

    package init() {}

    /// All current paths, including held ones.
    package var paths: [Path] { (first.map { [$0.path] } ?? []) + others.keys }
    package var isEmpty: Bool { first == nil && others.isEmpty }

    /// Seen on a path whose end has not been reported.
    package var isLive: Bool { has { if case .held = $0 { false } else { true } } }

    package var nextDeadline: Duration? {
        var next: Moment?
        _ = has { status in
            if case .held(let until) = status { next = min(next ?? until, until) }
            return false
        }
        return next?.time
    }

    package mutating func appeared(_ path: Path) { self[path] = .seen }

    package mutating func disappeared(_ path: Path, holdUntil deadline: Duration) {
        switch self[path] {
        case .seen, .unconfirmed: self[path] = .held(until: Moment(deadline))
        case .held, nil: break
        }
    }

    /// The current state is unknown, so nothing ends until the backend is back, not even held paths.
    package mutating func backendLost() { update { $0 = .unconfirmed } }

    /// The backend has reported all it knows: what it did not repeat is probably gone.
    /// - Returns: whether there is such a path.
    @discardableResult package mutating func listed(holdUntil deadline: Duration) -> Bool {
        guard has({ $0 == .unconfirmed }) else { return false }
        update { if $0 == .unconfirmed { $0 = .held(until: Moment(deadline)) } }
        return true
    }

    package mutating func expire(_ now: Duration) {
        guard let next = nextDeadline, next <= now else { return }
        func isOver(_ status: Status) -> Bool { if case .held(let until) = status { until.time <= now } else { false } }
        if let status = first?.status, isOver(status) { first = nil }
        others.removeAll(where: isOver)
    }

    private subscript(path: Path) -> Status? {
        get { first?.path == path ? first?.status : others[path] }
        set {
            if first?.path == path || first == nil && others[path] == nil {
                first = newValue.map { (path, $0) }
            } else {
                others[path] = newValue
            }
        }
    }

    private func has(_ isSuch: (Status) -> Bool) -> Bool {
        first.map { isSuch($0.status) } ?? false || others.values.contains(where: isSuch)
    }

    private mutating func update(_ body: (inout Status) -> Void) {
        if let path = first?.path, var status = first?.status {
            body(&status)
            first = (path, status)
        }
        others.updateValues(body)
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
