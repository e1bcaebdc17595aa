package import CommandText
import TerminalUI

/// Renders the board as a screen or as lines. My discs are X and the opponent's O, so that no colour is needed.
package struct BoardView: Sendable {
    let game: Game
    let me: Player
    /// Our name; safe for a terminal, as the opponent's name is.
    let own: String
    let opponent: String
    let column: Int

    package init(game: Game, me: Player, own: String, opponent: String, column: Int) {
        self.game = game
        self.me = me
        self.own = own
        self.opponent = opponent
        self.column = column
    }

    /// Draws the whole screen.
    package func draw(on canvas: inout Canvas, state: String, message: String, keys: String) {
        let layout = BoardLayout(canvas.size)
        canvas.put(title: "Four in a Row", message: message, keys: keys)
        canvas.put("\(own) (X, you) against \(opponent) (O)", row: layout.players, column: 2)
        canvas.put(state, row: layout.state, column: 2, Style(bold: true))
        drawNumbers(layout, on: &canvas)
        drawLines(layout, on: &canvas)
        for column in 0..<Board.columns {
            for row in 0..<Board.rows { draw(Place(column: column, row: row), layout, on: &canvas) }
        }
    }

    private func drawNumbers(_ layout: BoardLayout, on canvas: inout Canvas) {
        let isMine = game.outcome == nil && game.turn == me
        for column in 0..<Board.columns {
            let isMarked = isMine && column == self.column
            canvas.put(
                String(column + 1), row: layout.numbers, column: layout.middle(column),
                isMarked ? Style(.green, bold: true, reverse: layout.discRows == 0) : .plain)
        }
        guard isMine, layout.discRows > 0 else { return }
        canvas.put("▼", row: layout.numbers - 1, column: layout.middle(column), Style(.green, bold: true))
    }

    private func drawLines(_ layout: BoardLayout, on canvas: inout Canvas) {
        for y in layout.top..<layout.bottom {
            for column in 0...Board.columns { canvas.put("│", row: y, column: layout.x(column) - 1) }
        }
        guard layout.discRows > 0 else { return }
        let line = String(repeating: "─", count: layout.discColumns)
        for row in 0...Board.rows {
            let ends = row == 0 ? ("┌", "┬", "┐") : row == Board.rows ? ("└", "┴", "┘") : ("├", "┼", "┤")
            let inner = Array(repeating: line, count: Board.columns).joined(separator: ends.1)
            canvas.put(ends.0 + inner + ends.2, row: layout.top + row * (layout.discRows + 1), column: layout.left)
        }
    }

    private func draw(_ place: Place, _ layout: BoardLayout, on canvas: inout Canvas) {
        guard let player = game.board[place] else { return }
        var winning: [Place] = []
        if case .won(_, let row) = game.outcome { winning = row }
        let isMarked = winning.contains(place) || game.last == place
        let style = Style(player == me ? .red : .yellow, bold: isMarked, reverse: winning.contains(place))
        let rows = max(layout.discRows, 1)
        for row in 0..<rows {
            // Round: shorter towards the top and the bottom.
            let margin = 1 + abs(row - rows / 2)
            let letters = String(repeating: player == me ? "X" : "O", count: layout.discColumns - 2 * margin)
            let blank = String(repeating: " ", count: margin)
            canvas.put(
                blank + letters + blank, row: layout.y(place.row) + row, column: layout.x(place.column), style)
        }
    }

    /// Six lines, top row first.
    package static func lines(of game: Game, me: Player) -> [String] {
        (0..<Board.rows).reversed().map { row in
            (0..<Board.columns).map { column in
                game.board[Place(column: column, row: row)].map { $0 == me ? "X" : "O" } ?? "."
            }.joined(separator: " ")
        }
    }
}
