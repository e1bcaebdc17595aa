import CommandText
import FourInARow
import TerminalUI
import Testing

/// The board on screens of every size.
@Suite("Four in a row: the screen")
struct BoardViewTests {
    private func lines(_ size: ScreenSize, _ columns: [Int] = [3, 0, 3]) throws -> [String] {
        var game = Game(first: .host)
        for column in columns { try game.play(game.turn, column: column) }
        let view = BoardView(game: game, me: .host, own: "h1", opponent: "h2", column: 3)
        var canvas = Canvas(size)
        view.draw(on: &canvas, state: "the state", message: "the message", keys: "the keys")
        return canvas.text
    }

    @Test(
        "all of it is on the screen, from the smallest size on, and clicks find the columns",
        arguments: [34, 60, 80, 150], [12, 24, 35, 50])
    func sizes(_ columns: Int, _ rows: Int) throws {
        let size = ScreenSize(columns: columns, rows: rows)
        let lines = try lines(size)
        for text in ["Four in a Row", "h1 (X, you) against h2 (O)", "the state", "the message", "the keys"] {
            #expect(lines.contains { $0.contains(text) }, "\(text): \(lines)")
        }
        let numbers = try #require(lines.firstIndex { $0.contains("1 ") && $0.contains(" 7") })
        for column in 0..<7 {
            let index = try #require(lines[numbers].firstIndex(of: Character("\(column + 1)")))
            let x = lines[numbers].distance(from: lines[numbers].startIndex, to: index)
            #expect(BoardLayout(size).column(x, numbers) == column)
            #expect(BoardLayout(size).column(x, numbers + 3) == column)
        }
        // Two of our discs on top of each other, one of theirs in the bottom row.
        let discs = lines.dropFirst(numbers).map { $0.filter { "XO".contains($0) } }.filter { !$0.isEmpty }
        #expect(discs.allSatisfy { $0.allSatisfy { $0 == "X" } || ($0.hasPrefix("O") && $0.hasSuffix("X")) })
        #expect(discs.contains { $0.contains("OX") } && discs.contains { !$0.contains("O") }, "\(lines)")
    }

    @Test("the more room, the larger the discs")
    func scale() throws {
        let counts = try [(34, 12), (80, 24), (80, 36), (120, 50)].map { columns, rows in
            try lines(ScreenSize(columns: columns, rows: rows)).joined().count { $0 == "O" }
        }
        // One of each is in the line that says who plays.
        #expect(counts == [2, 2, 12, 34])
    }
}
