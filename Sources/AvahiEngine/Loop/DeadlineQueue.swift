import System

/// Elements ordered by deadline: a binary heap.
struct DeadlineQueue<Element> {
    private var heap: [(deadline: MonotonicTime, element: Element)] = []

    /// The earliest deadline.
    var first: MonotonicTime? { heap.first?.deadline }

    var count: Int { heap.count }

    mutating func insert(_ element: Element, at deadline: MonotonicTime) {
        heap.append((deadline, element))
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].deadline < heap[parent].deadline else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    /// Removes the elements for which `isUnwanted` returns true.
    mutating func removeAll(where isUnwanted: (Element) -> Bool) {
        let kept = heap.filter { !isUnwanted($0.element) }
        heap = []
        for (deadline, element) in kept { insert(element, at: deadline) }
    }

    /// Removes the element with the earliest deadline.
    mutating func removeFirst() -> Element? {
        guard let first = heap.first else { return nil }
        let last = heap.removeLast()
        guard !heap.isEmpty else { return first.element }
        heap[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
                if heap[child].deadline < heap[least].deadline { least = child }
            }
            guard least != parent else { return first.element }
            heap.swapAt(least, parent)
            parent = least
        }
    }
}
