package import CommandText
import TerminalUI

/// The board's position on a screen: centred, and as large as fits.
package struct BoardLayout: Hashable, Sendable {
    /// Room for the board without lines between its rows.
    package static let minimumSize = ScreenSize(columns: 34, rows: 12)
    private static let largest = 3

    /// The row that shows who plays.
    let players: Int
    /// The row that shows whose turn it is, or the result.
    let state: Int
    /// The row of column numbers; if there are lines, the row above shows where the disc would fall.
    let numbers: Int
    /// The height of a disc between lines; 0 for one row without lines.
    let discRows: Int
    /// The width of a disc between lines.
    let discColumns: Int
    /// The first column of the board.
    let left: Int

    package init(_ size: ScreenSize) {
        let body = ScreenLayout(size).body
        players = body.lowerBound
        state = body.upperBound - 1
        let room = body.dropFirst().dropLast()
        let scale = (1...Self.largest).last { scale in
            room.count >= Board.rows * 2 * scale + 3 && size.columns >= Board.columns * 4 * scale + 1
        }
        discRows = scale.map { 2 * $0 - 1 } ?? 0
        discColumns = 4 * (scale ?? 1) - 1
        left = max(0, (size.columns - Board.columns * (discColumns + 1) - 1) / 2)
        let height = discRows == 0 ? Board.rows + 1 : Board.rows * (discRows + 1) + 3
        numbers = room.lowerBound + max(0, room.count - height) / 2 + (discRows == 0 ? 0 : 1)
    }

    /// The top row of the board.
    var top: Int { numbers + 1 }

    /// The row below the board.
    var bottom: Int { discRows == 0 ? top + Board.rows : top + Board.rows * (discRows + 1) + 1 }

    /// The board's column at a position on the screen.
    package func column(_ x: Int, _ y: Int) -> Int? {
        guard x > left, x < left + Board.columns * (discColumns + 1), (numbers..<bottom).contains(y) else { return nil }
        return (x - left) / (discColumns + 1)
    }

    /// The first screen column inside a column of the board.
    func x(_ column: Int) -> Int { left + 1 + column * (discColumns + 1) }

    /// The middle of a column.
    func middle(_ column: Int) -> Int { x(column) + discColumns / 2 }

    /// The first screen row of a row of the board; row 0 is the lowest.
    func y(_ row: Int) -> Int {
        let fromTop = Board.rows - 1 - row
        return discRows == 0 ? top + fromTop : top + 1 + fromTop * (discRows + 1)
    }
}
