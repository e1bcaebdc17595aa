/// A game with its rules: whose turn it is, legal moves, the outcome.
package struct Game: Hashable, Sendable {
    /// The outcome of a game.
    package enum Outcome: Hashable, Sendable {
        /// A player has four or more in a row, in these cells.
        case won(Player, [Place])
        /// The board is full.
        case draw
    }

    /// Why a move is illegal.
    package enum IllegalMove: Error, Hashable, Sendable, CustomStringConvertible {
        case noSuchColumn(Int)
        case columnIsFull(Int)
        case notTheirTurn
        case gameIsOver

        /// For people; columns count from 1, as on the screen.
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
    /// The player to move, while there is no outcome.
    package private(set) var turn: Player
    /// The outcome; nil while the game goes on.
    package private(set) var outcome: Outcome?
    /// The cell of the last disc.
    package private(set) var last: Place?

    /// Creates a game with an empty board.
    package init(first: Player) { turn = first }

    /// Drops a player's disc into a column, 0 to 6. An illegal move changes nothing.
    /// - Returns: the cell where it came to rest.
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
