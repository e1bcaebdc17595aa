public import CommandText

/// The layout of a screen: a title at the top, keys at the bottom, a message above them, and a body in between.
public struct ScreenLayout: Hashable, Sendable {
    /// A screen with fewer rows has no empty ones.
    private static let spacious = 16

    /// The title's row.
    public let title: Int
    /// The rows for content.
    public let body: Range<Int>
    /// The rows of the message.
    public let message: Range<Int>
    /// The row that explains the keys.
    public let keys: Int

    /// The layout of a screen of that size, which must have at least 5 rows.
    public init(_ size: ScreenSize) {
        let isSpacious = size.rows >= Self.spacious
        title = isSpacious ? 1 : 0
        keys = size.rows - (isSpacious ? 2 : 1)
        message = max(title + 1, keys - (isSpacious ? 2 : 1))..<max(title + 2, keys)
        body = title + 1..<max(title + 1, message.lowerBound)
    }
}

extension Canvas {
    /// The layout of this screen.
    public var layout: ScreenLayout { ScreenLayout(size) }

    /// Writes title, message and keys. A message that exceeds its rows ends with `…`.
    public mutating func put(title: String, message: String = "", keys: String) {
        let layout = layout
        put(title, row: layout.title, column: 2, Style(bold: true))
        put(message, rows: layout.message, column: 2, Style(.yellow))
        put(keys, row: layout.keys, column: 2)
    }

    /// Writes a list, one line per row, scrolled so that the selected entry is visible.
    /// - Returns: the index of the first visible entry.
    @discardableResult
    public mutating func put(list: [String], selected: Int?, rows: Range<Int>) -> Int {
        let first = Self.first(of: list.count, selected: selected, rows: rows.count)
        for (offset, text) in list.dropFirst(first).prefix(rows.count).enumerated() {
            let index = first + offset
            // The last row says how many more there are.
            if offset == rows.count - 1, index < list.count - 1, index != selected {
                put("… and \(list.count - index) more", row: rows.lowerBound + offset, column: 4)
            } else {
                let isSelected = index == selected
                let line = "\(isSelected ? ">" : " ") \(text) "
                put(line, row: rows.lowerBound + offset, column: 2, Style(reverse: isSelected))
            }
        }
        return first
    }

    /// The index of the first visible entry if `count` entries share this many rows.
    public static func first(of count: Int, selected: Int?, rows: Int) -> Int {
        guard let selected, count > rows, rows > 1 else { return 0 }
        // One row above the last, which may say how many more there are.
        return min(max(0, selected - rows + (selected == count - 1 ? 1 : 2)), count - rows)
    }
}
