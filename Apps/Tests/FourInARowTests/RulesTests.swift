import FourInARow
import Testing

/// The rules, as a value.
@Suite("Four in a row: rules")
struct RulesTests {
    /// Plays the columns in turn, starting with the host.
    private func game(_ columns: [Int]) throws -> Game {
        var game = Game(first: .host)
        for column in columns { try game.play(game.turn, column: column) }
        return game
    }

    /// The winner; nil if there is none.
    private func winner(_ game: Game) -> Player? {
        if case .won(let player, _) = game.outcome { player } else { nil }
    }

    @Test("four in a row win in each direction, at each place of the last disc")
    func wins() throws {
        let across = [[0, 0, 1, 1, 2, 2, 3], [0, 0, 1, 1, 3, 3, 2], [3, 3, 4, 4, 6, 6, 5]]
        let up = [[0, 1, 0, 1, 0, 1, 0], [6, 0, 6, 0, 6, 0, 6]]
        let rising = [[0, 1, 1, 2, 2, 3, 2, 3, 3, 6, 3], [3, 4, 4, 5, 5, 6, 5, 6, 6, 0, 6]]
        let falling = [[3, 2, 2, 1, 1, 0, 1, 0, 0, 6, 0], [6, 5, 5, 4, 4, 3, 4, 3, 3, 0, 3]]
        for columns in across + up + rising + falling {
            let game = try game(columns)
            #expect(winner(game) == .host, "\(columns)")
            #expect(try self.game(columns.dropLast()).outcome == nil, "\(columns)")
        }
        // The guest can win too.
        #expect(winner(try game([0, 1, 0, 2, 0, 3, 6, 4])) == .guest)
    }

    @Test("the winning cells are reported, even more than four")
    func places() throws {
        let game = try game([0, 0, 1, 1, 2, 2, 4, 4, 5, 5, 3])
        guard case .won(.host, let row) = game.outcome else {
            Issue.record("\(String(describing: game.outcome))")
            return
        }
        #expect(row == (0...5).map { Place(column: $0, row: 0) })
    }

    @Test("three are not enough, nor are four that are interrupted or wrap around the edge")
    func noWin() throws {
        #expect(try game([0, 0, 1, 1, 2, 2]).outcome == nil)
        #expect(try game([0, 3, 1, 3, 2, 5, 4]).outcome == nil)
        #expect(try game([5, 0, 6, 1, 0, 5, 1, 6]).outcome == nil)
    }

    @Test("a full board without four in a row is a draw")
    func draw() throws {
        let columns = [
            0, 1, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0, 2, 3, 2, 3, 3, 2, 2, 3, 2, 3, 3, 2, 4, 5, 4, 5, 5, 4, 4, 5, 4, 5, 5, 4,
            6, 6, 6, 6,
            6, 6,
        ]
        #expect(try game(Array(columns.dropLast())).outcome == nil)
        let game = try game(columns)
        #expect(game.outcome == .draw)
        #expect(game.board.isFull)
    }

    @Test("turns alternate; a move out of turn, into no column, a full one, or after the end changes nothing")
    func illegalMoves() throws {
        var game = try game([0, 0, 0, 0, 0, 0])
        #expect(game.turn == .host)
        let before = game
        #expect(throws: Game.IllegalMove.notTheirTurn) { try game.play(.guest, column: 1) }
        #expect(throws: Game.IllegalMove.columnIsFull(0)) { try game.play(.host, column: 0) }
        for column in [-1, 7, Int.max, Int.min] {
            #expect(throws: Game.IllegalMove.noSuchColumn(column)) { try game.play(.host, column: column) }
        }
        #expect(game == before)
        var over = try self.game([0, 1, 0, 1, 0, 1, 0])
        #expect(throws: Game.IllegalMove.gameIsOver) { try over.play(.guest, column: 1) }
    }
}
