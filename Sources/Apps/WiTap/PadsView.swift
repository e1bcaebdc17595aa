package import TerminalUI

/// Nine pads as a screen: the lit ones are reversed and say so in letters too, so that no colour is needed.
package struct PadsView: Sendable {
    private static let left = 8
    private static let top = 4
    private static let width = 12
    private static let height = 5

    let mine: Pads
    let theirs: Pads
    let opponent: String

    package init(mine: Pads, theirs: Pads, opponent: String) {
        self.mine = mine
        self.theirs = theirs
        self.opponent = opponent
    }

    /// The pad at a place of the screen.
    package static func pad(_ x: Int, _ y: Int) -> Pad? {
        guard x >= left, y >= top, x < left + 3 * width, y < top + 3 * height else { return nil }
        return Pad((y - top) / height * 3 + (x - left) / width + 1)
    }

    /// The screen.
    package var canvas: Canvas {
        var canvas = Canvas()
        canvas.put("WiTap", row: 1, column: 2, Style(bold: true))
        canvas.put("Playing with \(opponent)", row: 2, column: 2)
        for pad in Pad.allCases { draw(pad, on: &canvas) }
        canvas.put("*** theirs   === yours", row: 8, column: 50)
        canvas.put("1-9 or the mouse: tap   q: leave the game", row: 22, column: 2)
        return canvas
    }

    private func draw(_ pad: Pad, on canvas: inout Canvas) {
        let column = Self.left + (pad.number - 1) % 3 * Self.width
        let row = Self.top + (pad.number - 1) / 3 * Self.height
        let isTheirs = theirs.down.contains(pad)
        let isMine = mine.down.contains(pad)
        let style =
            isTheirs ? Style(.yellow, bold: true, reverse: true) : isMine ? Style(.green, reverse: true) : .plain
        let mark = isTheirs ? "***" : isMine ? "===" : "   "
        canvas.put("+--------+", row: row, column: column, style)
        canvas.put("|  \(mark)   |", row: row + 1, column: column, style)
        canvas.put("|   \(pad.number)    |", row: row + 2, column: column, style)
        canvas.put("+--------+", row: row + 3, column: column, style)
    }
}
