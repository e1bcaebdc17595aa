/// A dictionary of one or a few pairs, of which there are thousands. Stores its pairs side by side; a `Dictionary` of
/// one pair takes half a kilobyte.
struct SmallMap<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private var pairs: [(key: Key, value: Value)] = []

    var isEmpty: Bool { pairs.isEmpty }
    var keys: some Collection<Key> { pairs.lazy.map(\.key) }
    var values: some Collection<Value> { pairs.lazy.map(\.value) }

    private func place(of key: Key) -> Int? { pairs.firstIndex { $0.key == key } }

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
