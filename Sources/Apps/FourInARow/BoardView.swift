package import TerminalUI

/// The board as a screen, and as lines. My discs are X, the other's O, so that no colour is needed.
package struct BoardView: Sendable {
    private static let left = 10
    private static let top = 5
    private static let cellWidth = 4

    let game: Game
    let me: Player
    let opponent: String
    let column: Int

    package init(game: Game, me: Player, opponent: String, column: Int) {
        self.game = game
        self.me = me
        self.opponent = opponent
        self.column = column
    }

    /// The column at a place of the screen.
    package static func column(_ x: Int, _ y: Int) -> Int? {
        guard x > left, x < left + Board.columns * cellWidth, (top...top + 2 + 2 * Board.rows).contains(y) else {
            return nil
        }
        return (x - left) / cellWidth
    }

    /// The screen.
    package func canvas(state: String, message: String, keys: String) -> Canvas {
        var canvas = Canvas()
        canvas.put("Four in a Row", row: 1, column: 2, Style(bold: true))
        canvas.put("You (X) and \(opponent) (O)", row: 2, column: 2)
        let isMine = game.outcome == nil && game.turn == me
        if isMine { canvas.put("v", row: Self.top - 1, column: x(column), Style(.green, bold: true)) }
        for column in 0..<Board.columns { canvas.put(String(column + 1), row: Self.top, column: x(column)) }
        let line = String(repeating: "+---", count: Board.columns) + "+"
        for row in 0..<Board.rows {
            let y = Self.top + 1 + 2 * (Board.rows - 1 - row)
            canvas.put(line, row: y, column: Self.left)
            for column in 0..<Board.columns {
                canvas.put("|", row: y + 1, column: x(column) - 2)
                draw(Place(column: column, row: row), y + 1, on: &canvas)
            }
            canvas.put("|", row: y + 1, column: x(Board.columns) - 2)
        }
        canvas.put(line, row: Self.top + 1 + 2 * Board.rows, column: Self.left)
        canvas.put(state, row: 20, column: 2, Style(bold: true))
        canvas.put(message, row: 21, column: 2, Style(.yellow))
        canvas.put(keys, row: 22, column: 2)
        return canvas
    }

    private func x(_ column: Int) -> Int { Self.left + 2 + column * Self.cellWidth }

    private func draw(_ place: Place, _ y: Int, on canvas: inout Canvas) {
        guard let player = game.board[place] else { return }
        var winning: [Place] = []
        if case .won(_, let row) = game.outcome { winning = row }
        let isMarked = winning.contains(place) || game.last == place
        let style = Style(player == me ? .red : .yellow, bold: isMarked, reverse: winning.contains(place))
        canvas.put(player == me ? " X " : " O ", row: y, column: x(place.column) - 1, style)
    }

    /// Six lines, the uppermost row first.
    package static func lines(of game: Game, me: Player) -> [String] {
        (0..<Board.rows).reversed().map { row in
            (0..<Board.columns).map { column in
                game.board[Place(column: column, row: row)].map { $0 == me ? "X" : "O" } ?? "."
            }.joined(separator: " ")
        }
    }
}
