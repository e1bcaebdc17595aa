import PeerSession
import TerminalUI

/// The screens of the program.
enum RaceView {
    private static let rows = 16

    /// Who is there.
    static func lobby(_ peers: [Peer], _ selected: Int, message: String, name: String) -> Canvas {
        var canvas = Canvas()
        canvas.put("Tap Race: who races?", row: 1, column: 2, Style(bold: true))
        if !name.isEmpty { canvas.put("You are \(name)", row: 1, column: 40) }
        if peers.isEmpty { canvas.put("Nobody yet.", row: 3, column: 4) }
        let offset = max(0, selected - rows + 1)
        for (row, peer) in peers.dropFirst(offset).prefix(rows).enumerated() {
            let isSelected = row + offset == selected
            let state = peer.state == .available ? "" : "  (\(peer.state))"
            canvas.put(
                "\(isSelected ? ">" : " ") \(peer)\(state) ", row: 3 + row, column: 2, Style(reverse: isSelected))
        }
        canvas.put(message, row: 21, column: 2, Style(.yellow, bold: true))
        canvas.put("Up/Down: choose   Enter: invite   q: leave", row: 22, column: 2)
        return canvas
    }

    /// Both counts as bars.
    static func race(_ race: Race, _ peer: Peer, secondsLeft: Int) -> Canvas {
        var canvas = Canvas()
        canvas.put("Tap Race", row: 1, column: 2, Style(bold: true))
        canvas.put("\(secondsLeft) s left", row: 1, column: 60, Style(bold: true))
        bar("You", race.mine, row: 5, Style(.green, bold: true), &canvas)
        bar("\(peer)", race.theirs, row: 10, Style(.yellow, bold: true), &canvas)
        canvas.put(race.isOver ? "Time is up." : "Any key: tap!   Esc: leave", row: 22, column: 2)
        return canvas
    }

    private static func bar(_ name: String, _ count: Int, row: Int, _ style: Style, _ canvas: inout Canvas) {
        canvas.put(name, row: row, column: 2)
        canvas.put(String(repeating: "#", count: min(count / 4, 64)), row: row + 1, column: 2, style)
        canvas.put(String(count), row: row + 1, column: 70, Style(bold: true))
    }
}
