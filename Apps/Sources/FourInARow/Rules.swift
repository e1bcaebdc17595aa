/// A game by the rules: who may move, where, and how it ends.
package struct Game: Hashable, Sendable {
    /// How a game ended.
    package enum Outcome: Hashable, Sendable {
        /// Somebody has four or more in a row: these.
        case won(Player, [Place])
        /// The board is full.
        case draw
    }

    /// Why a move is none.
    package enum IllegalMove: Error, Hashable, Sendable, CustomStringConvertible {
        case noSuchColumn(Int)
        case columnIsFull(Int)
        case notTheirTurn
        case gameIsOver

        /// For people; columns begin with 1, as on the screen.
        package var description: String {
            switch self {
            case .noSuchColumn: "there are columns 1 to \(Board.columns) only"
            case .columnIsFull(let column): "column \(column + 1) is full"
            case .notTheirTurn: "it is the other's turn"
            case .gameIsOver: "the game is over"
            }
        }
    }

    package private(set) var board = Board()
    /// Who moves next, while there is no outcome.
    package private(set) var turn: Player
    /// How it ended; nil while it goes on.
    package private(set) var outcome: Outcome?
    /// Where the last disc fell.
    package private(set) var last: Place?

    /// An empty board.
    package init(first: Player) { turn = first }

    /// Lets a player's disc fall into a column, 0 to 6. An illegal move changes nothing.
    /// - Returns: where it came to lie.
    @discardableResult
    package mutating func play(_ player: Player, column: Int) throws(IllegalMove) -> Place {
        guard outcome == nil else { throw .gameIsOver }
        guard player == turn else { throw .notTheirTurn }
        guard (0..<Board.columns).contains(column) else { throw .noSuchColumn(column) }
        guard !board.isFull(column) else { throw .columnIsFull(column) }
        let place = board.drop(player, into: column)
        last = place
        if let row = board.row(through: place) {
            outcome = .won(player, row)
        } else if board.isFull {
            outcome = .draw
        } else {
            turn = player.other
        }
        return place
    }
}
