extension Sequence where Element: Hashable {
    /// The elements, each once, in the order in which they come first.
    package func uniqued() -> [Element] {
        var known: Set<Element> = []
        return filter { known.insert($0).inserted }
    }
}

extension Array {
    /// Where the elements of which `belongs` is true begin, in an array with all others before them.
    package func partitioningIndex(where belongs: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if belongs(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
