package import CommandText
import DNSSD
import PeerSession
import TerminalUI

/// The screens of the program.
package enum RaceView {
    /// Room for two bars, or for a list of two.
    package static let minimumSize = ScreenSize(columns: 30, rows: 8)
    private static let highestBar = 5

    /// Draws the list of players.
    static func lobby(_ peers: [Peer], _ selected: Int, message: String, name: String, on canvas: inout Canvas) {
        let title = name.isEmpty ? "Tap Race: who races?" : "Tap Race: who races \(name.escapedName)?"
        canvas.put(title: title, message: message, keys: "Up/Down: choose   Enter: invite   q: leave")
        let rows = canvas.layout.body.dropFirst()
        let names = peers.map { $0.state == .available ? "\($0)" : "\($0)  (\($0.state))" }
        canvas.put(list: names, selected: peers.indices.contains(selected) ? selected : nil, rows: rows)
        if peers.isEmpty { canvas.put("Nobody yet.", row: rows.lowerBound, column: 4) }
    }

    /// Draws a question about a key.
    package static func question(_ text: String, on canvas: inout Canvas) {
        canvas.put(title: "Tap Race: whose key is this?", keys: "y: it is the one   n: no")
        let hint = "Compare it with what 'discoverd key show' prints there."
        let paragraphs = text.split(separator: "\n").map { $0.drop { $0 == " " } } + [hint[...]]
        canvas.put(paragraphs: paragraphs.map(String.init), rows: canvas.layout.body, column: 2)
    }

    /// Draws both counts as bars, and the remaining time (`left` of `seconds`) as another.
    package static func race(
        _ race: Race, own: String, opponent: String, left: Int, of seconds: Int, on canvas: inout Canvas
    ) {
        let keys = race.isOver ? "Time is up." : "Any key: tap!   Esc: leave"
        canvas.put(title: "Tap Race: \(own.escapedName) against \(opponent.escapedName)", keys: keys)
        let body = canvas.layout.body
        let width = canvas.size.columns - 4
        let isSpacious = body.count >= 12
        var row = body.lowerBound + (isSpacious ? 1 : 0)
        let time = "\(left) s left  "
        canvas.put(time, row: row, column: 2, Style(bold: true))
        let gone = filled(seconds - left, of: seconds, width: width - time.count)
        let rest = String(repeating: "░", count: max(0, width - time.count - gone.count))
        canvas.put(gone + rest, row: row, column: 2 + time.count)
        row += isSpacious ? 2 : 1
        let height = min(max(1, (body.upperBound - row - 3) / 2), highestBar)
        // At first a tap is one column; later the leader's bar fills the width.
        let full = max(width, race.mine, race.theirs)
        for (name, count, colour) in [
            ("\(own.escapedName) (you)", race.mine, Style.Colour.green), (opponent.escapedName, race.theirs, .yellow),
        ] {
            let number = String(count)
            canvas.put(name, row: row, column: 2, limit: width - number.count - 2)
            canvas.put(number, row: row, column: 2 + width - number.count, Style(bold: true))
            let bar = filled(count, of: full, width: width)
            for y in 1...height { canvas.put(bar, row: row + y, column: 2, Style(colour, bold: true)) }
            row += height + (isSpacious ? 2 : 1)
        }
    }

    private static func filled(_ count: Int, of full: Int, width: Int) -> String {
        guard full > 0, width > 0 else { return "" }
        return String(repeating: "█", count: min(max(count, 0) * width / full, width))
    }
}

extension String {
    /// The name, safe for a terminal.
    fileprivate var escapedName: String { escapedForTerminal }
}
