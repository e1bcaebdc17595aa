package import CommandText
import TerminalUI

/// Nine pads on a screen, as large as fits. Lit pads are reversed and also say so in letters, so that no colour is needed.
package struct PadsView: Sendable {
    /// Room for pads three rows high.
    package static let minimumSize = ScreenSize(columns: 30, rows: 13)

    let mine: Pads
    let theirs: Pads
    /// Our name; safe for a terminal, as the opponent's name is.
    let own: String
    let opponent: String

    package init(mine: Pads, theirs: Pads, own: String, opponent: String) {
        self.mine = mine
        self.theirs = theirs
        self.own = own
        self.opponent = opponent
    }

    /// The pad at a position on the screen.
    package static func pad(_ x: Int, _ y: Int, _ size: ScreenSize) -> Pad? {
        PadsLayout(size).pad(x, y)
    }

    /// Draws the whole screen.
    package func draw(on canvas: inout Canvas) {
        let layout = PadsLayout(canvas.size)
        canvas.put(title: "WiTap", keys: "1-9 or the mouse: tap   q: leave the game")
        canvas.put("\(own) (you, ===) and \(opponent) (***)", row: layout.players, column: 2)
        for pad in Pad.allCases { draw(pad, layout, on: &canvas) }
    }

    private func draw(_ pad: Pad, _ layout: PadsLayout, on canvas: inout Canvas) {
        let isTheirs = theirs.down.contains(pad)
        let isMine = mine.down.contains(pad)
        let style =
            isTheirs ? Style(.yellow, bold: true, reverse: true) : isMine ? Style(.green, reverse: true) : .plain
        let mark = isTheirs ? "*" : isMine ? "=" : " "
        let (column, row) = layout.place(of: pad)
        let (width, height) = (layout.width - 2, layout.height - 2)
        let line = String(repeating: "─", count: width)
        canvas.put("┌\(line)┐", row: row, column: column, style)
        for y in 0..<height {
            canvas.put("│\(String(repeating: mark, count: width))│", row: row + 1 + y, column: column, style)
        }
        canvas.put(" \(pad.number) ", row: row + 1 + (height - 1) / 2, column: column + width / 2, style)
        canvas.put("└\(line)┘", row: row + 1 + height, column: column, style)
    }
}

/// The positions of the pads: three centred rows of three.
private struct PadsLayout {
    let players: Int
    /// The columns and rows of a pad, including its frame.
    let width: Int
    let height: Int
    private let gap: Int
    private let left: Int
    private let top: Int

    init(_ size: ScreenSize) {
        let body = ScreenLayout(size).body
        players = body.lowerBound
        let room = body.dropFirst()
        gap = room.count >= 14 ? 1 : 0
        height = max(3, (room.count - 2 * gap) / 3)
        // Characters are twice as high as they are wide.
        width = min(max(5, (size.columns - 2) / 3 - 2), 2 * height + 4)
        left = max(0, (size.columns - 3 * width - 4) / 2)
        top = room.lowerBound + max(0, room.count - 3 * height - 2 * gap) / 2
    }

    func place(of pad: Pad) -> (column: Int, row: Int) {
        let (across, down) = ((pad.number - 1) % 3, (pad.number - 1) / 3)
        return (left + across * (width + 2), top + down * (height + gap))
    }

    func pad(_ x: Int, _ y: Int) -> Pad? {
        Pad.allCases.first { pad in
            let (column, row) = place(of: pad)
            return (column..<column + width).contains(x) && (row..<row + height).contains(y)
        }
    }
}
