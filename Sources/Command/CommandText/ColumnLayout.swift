/// Table columns that fit the width of a terminal, one line per record whatever it contains. A value.
package struct ColumnLayout: Hashable, Sendable {
    /// A requested column.
    package struct Column: Hashable, Sendable {
        /// The column's heading.
        package let title: String
        /// The column is dropped if it would be narrower than this.
        let minimum: Int
        /// The column is never wider than this.
        let maximum: Int
        /// The column's share of the space left over by the minimums.
        let weight: Int

        package init(_ title: String, _ minimum: Int, upTo maximum: Int? = nil, weight: Int = 1) {
            self.title = title
            self.minimum = minimum
            self.maximum = max(minimum, maximum ?? minimum)
            self.weight = weight
        }
    }

    /// Blanks between columns.
    private static let gap = 1

    private let titles: [String]
    /// The width of each column that fits; trailing columns that do not fit are dropped.
    package let widths: [Int]

    /// - Parameter total: the terminal's width in columns.
    package init(_ columns: [Column], in total: Int) {
        // Leaves the last column free: some terminals wrap once it is filled.
        let room = max(1, total - 1)
        var shown = columns[...]
        while shown.count > 1, Self.needed(shown) > room { shown.removeLast() }
        var widths = shown.map { min($0.minimum, room) }
        var left = room - Self.needed(shown)
        // Space that one column cannot use goes to the others.
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
                // Less than one column each: serve them from the left.
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

    /// The line of headings.
    package func header(isUTF8: Bool) -> String { line(titles, isUTF8: isUTF8) }

    /// The line for a record, without trailing blanks.
    /// - Parameter fields: safe for a terminal; surplus fields are dropped.
    package func line(_ fields: [String], isUTF8: Bool) -> String {
        cells(fields, isUTF8: isUTF8).joined(separator: String(repeating: " ", count: Self.gap))
    }

    /// The fields as displayed: shortened, and padded except for the last.
    package func cells(_ fields: [String], isUTF8: Bool) -> [String] {
        let last = min(fields.count, widths.count) - 1
        return zip(fields, widths).enumerated().map { index, cell in
            let text = cell.0.fitted(to: cell.1, isUTF8: isUTF8)
            return index < last ? text.padded(to: cell.1) : text
        }
    }
}
