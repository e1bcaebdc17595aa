/// Columns of a table that fits into the width of a terminal: one line a record, whatever it holds. A value.
package struct ColumnLayout: Hashable, Sendable {
    /// A column as it is wished for.
    package struct Column: Hashable, Sendable {
        /// What stands over it.
        package let title: String
        /// Where less is left, the column is left out.
        let minimum: Int
        /// More is of no use.
        let maximum: Int
        /// What it gets of what the minimums leave, beside the others.
        let weight: Int

        package init(_ title: String, _ minimum: Int, upTo maximum: Int? = nil, weight: Int = 1) {
            self.title = title
            self.minimum = minimum
            self.maximum = max(minimum, maximum ?? minimum)
            self.weight = weight
        }
    }

    /// Blanks between two columns.
    private static let gap = 1

    private let titles: [String]
    /// The width of each column that has room; those at the end that have none are left out.
    package let widths: [Int]

    /// - Parameter total: the columns of the terminal.
    package init(_ columns: [Column], in total: Int) {
        // The last column of a terminal is left free: some go to the next line once it is full.
        let room = max(1, total - 1)
        var shown = columns[...]
        while shown.count > 1, Self.needed(shown) > room { shown.removeLast() }
        var widths = shown.map { min($0.minimum, room) }
        var left = room - Self.needed(shown)
        // What one column has no use for goes to the others.
        while left > 0 {
            let open = shown.indices.filter { widths[$0] < shown[$0].maximum }
            let weights = open.reduce(0) { $0 + shown[$1].weight }
            guard weights > 0 else { break }
            let before = left
            for index in open {
                let share = min(before * shown[index].weight / weights, shown[index].maximum - widths[index], left)
                widths[index] += share
                left -= share
            }
            if left == before {
                // Less than one for each: from the first on.
                for index in open where left > 0 {
                    widths[index] += 1
                    left -= 1
                }
            }
        }
        titles = columns.map(\.title)
        self.widths = widths
    }

    private static func needed(_ columns: ArraySlice<Column>) -> Int {
        columns.reduce(0) { $0 + $1.minimum } + gap * max(0, columns.count - 1)
    }

    /// The titles.
    package func header(isUTF8: Bool) -> String { line(titles, isUTF8: isUTF8) }

    /// The line of a record, without blanks at its end.
    /// - Parameter fields: safe for a terminal; those beyond the columns are left out.
    package func line(_ fields: [String], isUTF8: Bool) -> String {
        cells(fields, isUTF8: isUTF8).joined(separator: String(repeating: " ", count: Self.gap))
    }

    /// The fields as they are shown: shortened, and padded but for the last one.
    package func cells(_ fields: [String], isUTF8: Bool) -> [String] {
        let last = min(fields.count, widths.count) - 1
        return zip(fields, widths).enumerated().map { index, cell in
            let text = cell.0.fitted(to: cell.1, isUTF8: isUTF8)
            return index < last ? text.padded(to: cell.1) : text
        }
    }
}
