/// A value whose copies share their storage until one of them is changed: for what is large, and kept several times by the thousand.
package struct Shared<Value: Sendable>: Sendable {
    /// `@unchecked` holds since `value` is changed only while this box has one reference, so that nothing else can read it.
    private final class Box: @unchecked Sendable {
        var value: Value

        init(_ value: Value) { self.value = value }
    }

    private var box: Box

    /// Creates the first copy.
    package init(_ value: Value) { box = Box(value) }

    /// The value of this copy.
    package var value: Value {
        _read { yield box.value }
        _modify {
            if !isKnownUniquelyReferenced(&box) { box = Box(box.value) }
            yield &box.value
        }
    }
}

extension Shared: Equatable where Value: Equatable {
    package static func == (one: Shared, other: Shared) -> Bool { one.box === other.box || one.value == other.value }
}

extension Shared: Hashable where Value: Hashable {
    package func hash(into hasher: inout Hasher) { hasher.combine(value) }
}
