import Records

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
