#if Commands
/// What is different in a list of lines since it was last looked at. A value.
struct LineChanges {
    /// A line that came or went.
    struct Change: Hashable {
        let isNew: Bool
        let line: String
    }

    private var last: [String] = []

    /// - Returns: those that went, then those that came; empty if nothing changed.
    mutating func changes(to lines: [String]) -> [Change] {
        defer { last = lines }
        let difference = lines.difference(from: last)
        return difference.removals.map { Change(isNew: false, line: $0.line) }
            + difference.insertions.map { Change(isNew: true, line: $0.line) }
    }
}

extension CollectionDifference<String>.Change {
    fileprivate var line: String {
        switch self {
        case .insert(_, let line, _), .remove(_, let line, _): line
        }
    }
}
#endif
