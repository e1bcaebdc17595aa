/// Columns and rows of a terminal.
public struct ScreenSize: Hashable, Sendable, CustomStringConvertible {
    /// A terminal may say up to 65535 of each (`struct winsize` of <sys/ioctl.h>); a screen of more than this has no use.
    private static let maximumColumns = 500
    private static let maximumRows = 200

    /// At least 1.
    public let columns: Int
    /// At least 1.
    public let rows: Int

    /// Creates a size; what is out of range becomes 1, or 500 columns and 200 rows.
    public init(columns: Int, rows: Int) {
        self.columns = min(max(columns, 1), Self.maximumColumns)
        self.rows = min(max(rows, 1), Self.maximumRows)
    }

    /// What a terminal has that does not say its size.
    public static let standard = ScreenSize(columns: 80, rows: 24)

    /// `80×24`.
    public var description: String { "\(columns)×\(rows)" }

    /// Whether there is room for `other` in it.
    public func fits(_ other: ScreenSize) -> Bool { columns >= other.columns && rows >= other.rows }
}

/// Where the parts of a screen are: a title at the top, keys at the bottom, a message above them, and a body between.
public struct ScreenLayout: Hashable, Sendable {
    /// Below so many rows there are no empty ones.
    private static let spacious = 16

    /// The title's row.
    public let title: Int
    /// The rows that are free.
    public let body: Range<Int>
    /// The rows of the message.
    public let message: Range<Int>
    /// The row that says what the keys do.
    public let keys: Int

    /// The parts of a screen of that size, which has at least 5 rows.
    public init(_ size: ScreenSize) {
        let isSpacious = size.rows >= Self.spacious
        title = isSpacious ? 1 : 0
        keys = size.rows - (isSpacious ? 2 : 1)
        message = max(title + 1, keys - (isSpacious ? 2 : 1))..<max(title + 2, keys)
        body = title + 1..<max(title + 1, message.lowerBound)
    }
}

extension Canvas {
    /// Where a title, a message and the keys are.
    public var layout: ScreenLayout { ScreenLayout(size) }

    /// Writes title, message and keys. A message that is longer than its rows ends with `…`.
    public mutating func put(title: String, message: String = "", keys: String) {
        let layout = layout
        put(title, row: layout.title, column: 2, Style(bold: true))
        put(message, rows: layout.message, column: 2, Style(.yellow))
        put(keys, row: layout.keys, column: 2)
    }

    /// Writes one line for each row of a list, with the selected one among those that fit.
    /// - Returns: the index of the first that is shown.
    @discardableResult
    public mutating func put(list: [String], selected: Int?, rows: Range<Int>) -> Int {
        let first = Self.first(of: list.count, selected: selected, rows: rows.count)
        for (offset, text) in list.dropFirst(first).prefix(rows.count).enumerated() {
            let index = first + offset
            // The last row says how many there are below it.
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

    /// The first of `count` that is shown in so many rows.
    static func first(of count: Int, selected: Int?, rows: Int) -> Int {
        guard let selected, count > rows, rows > 1 else { return 0 }
        // One row above the last, which may say how many there are below.
        return min(max(0, selected - rows + (selected == count - 1 ? 1 : 2)), count - rows)
    }
}
