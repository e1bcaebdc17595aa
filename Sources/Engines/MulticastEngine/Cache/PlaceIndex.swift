import Discovery

/// Finds values in their owner's array by hash. A bucket takes eight bytes, whereas a dictionary would store every key
/// again.
///
/// An open table with linear probing. The owner distinguishes values with equal hashes.
struct PlaceIndex: Sendable {
    private struct Bucket {
        static let empty = Bucket(place: -1, hash: 0)

        var place: Int32
        var hash: UInt32
    }

    private var buckets: [Bucket] = []
    private(set) var count = 0

    private var mask: Int { buckets.count - 1 }

    /// Returns the index of a value; nil if it is not in the table.
    /// - Parameter matches: returns whether an index holds the value.
    func find(_ hash: UInt32, _ matches: (Int) -> Bool) -> Int? {
        guard !buckets.isEmpty else { return nil }
        var bucket = Int(hash) & mask
        while buckets[bucket].place >= 0 {
            let place = Int(buckets[bucket].place)
            if buckets[bucket].hash == hash, matches(place) { return place }
            bucket = (bucket + 1) & mask
        }
        return nil
    }

    /// Inserts a value that is not in the table.
    mutating func insert(_ place: Int, _ hash: UInt32) {
        if (count + 1) * 4 > buckets.count * 3 { grow() }
        count += 1
        put(Bucket(place: Int32(clamping: place), hash: hash))
    }

    mutating func remove(_ place: Int, _ hash: UInt32) {
        guard !buckets.isEmpty else { return }
        var hole = Int(hash) & mask
        while buckets[hole].place != place {
            guard buckets[hole].place >= 0 else { return }
            hole = (hole + 1) & mask
        }
        count -= 1
        // Moves up the entries behind the hole, so that every search still ends at the first empty bucket.
        var next = (hole + 1) & mask
        while buckets[next].place >= 0 {
            let home = Int(buckets[next].hash) & mask
            if (next - home) & mask >= (next - hole) & mask {
                buckets[hole] = buckets[next]
                hole = next
            }
            next = (next + 1) & mask
        }
        buckets[hole] = .empty
    }

    private mutating func put(_ new: Bucket) {
        var bucket = Int(new.hash) & mask
        while buckets[bucket].place >= 0 { bucket = (bucket + 1) & mask }
        buckets[bucket] = new
    }

    private mutating func grow() {
        let old = buckets
        buckets = Array(repeating: .empty, count: max(16, old.count * 2))
        for bucket in old where bucket.place >= 0 { put(bucket) }
    }
}

/// An array in parts of a fixed size. One of thousands of large elements that grows neither moves them nor takes room for as many again.
struct PartedArray<Element: Sendable>: Sendable {
    private static var shift: Int { 9 }
    private static var mask: Int { 1 << shift - 1 }

    private var parts: [[Element]] = []
    private(set) var count = 0

    var indices: Range<Int> { 0..<count }

    subscript(index: Int) -> Element {
        _read { yield parts[index >> Self.shift][index & Self.mask] }
        _modify { yield &parts[index >> Self.shift][index & Self.mask] }
    }

    mutating func append(_ element: Element) {
        if count & Self.mask == 0 {
            parts.append([])
            if count > 0 { parts[parts.count - 1].reserveCapacity(1 << Self.shift) }
        }
        parts[parts.count - 1].append(element)
        count += 1
    }
}

extension Hashable {
    /// A hash for `PlaceIndex`. Each process has its own seed, so no one can choose names that collide.
    var shortHash: UInt32 { UInt32(truncatingIfNeeded: hashValue) }
}

/// Numbers with deadlines, earliest first. A binary heap. Items are never moved; an owner that knows the current
/// deadline ignores outdated ones.
struct DeadlineHeap: Sendable {
    struct Item: Sendable {
        let deadline: Moment
        private let number: Int32

        init(deadline: Moment, slot: Int) {
            self.deadline = deadline
            number = Int32(clamping: slot)
        }

        var slot: Int { Int(number) }
    }

    private var items: [Item] = []

    var count: Int { items.count }
    var first: Item? { items.first }

    init() {}

    init(_ unordered: [Item]) {
        items = unordered
        for index in stride(from: items.count / 2 - 1, through: 0, by: -1) { sink(index) }
    }

    mutating func insert(_ item: Item) {
        items.append(item)
        var index = items.count - 1
        while index > 0 {
            let parent = (index - 1) / 2
            guard items[index].deadline < items[parent].deadline else { return }
            items.swapAt(index, parent)
            index = parent
        }
    }

    mutating func popFirst() -> Item? {
        guard let first = items.first, let last = items.popLast() else { return nil }
        guard !items.isEmpty else { return first }
        items[0] = last
        sink(0)
        return first
    }

    private mutating func sink(_ start: Int) {
        var index = start
        while true {
            var least = index
            for child in 2 * index + 1...2 * index + 2
            where child < items.count && items[child].deadline < items[least].deadline { least = child }
            guard least != index else { return }
            items.swapAt(index, least)
            index = least
        }
    }
}
