import CommandText
import DNSSD
import DiscoveryJSON
import Pairing
import TerminalUI

/// One game: both players' pads, until the connection ends or the person leaves.
actor PadGame {
    /// Why a game is over.
    enum Ending: Hashable, Sendable {
        /// The person left the game.
        case left
        /// The person left the program.
        case quit
        /// The connection ended.
        case opponentLeft
    }

    /// How long a key counts as held, because a terminal does not report its release.
    private static let hold: Duration = .milliseconds(200)

    private let terminal: Terminal
    private let own: String
    private let opponent: String
    /// As received, for JSON.
    private let opponentName: String
    private let send: @Sendable ([UInt8]) async -> Void
    private var mine = Pads()
    private var theirs = Pads()
    /// How often each pad was pressed: only the last press releases it.
    private var presses: [Pad: Int] = [:]
    /// The pad that the mouse holds.
    private var clicked: Pad?
    private var holds: [Task<Void, Never>] = []

    init(terminal: Terminal, own: String, opponent: String, send: @escaping @Sendable ([UInt8]) async -> Void) {
        self.terminal = terminal
        self.own = own.escapedForTerminal
        self.opponent = opponent.escapedForTerminal
        opponentName = opponent
        self.send = send
    }

    /// Plays the game.
    func run(_ bytes: ByteLink.Bytes) async -> Ending {
        terminal.tell("playing", "playing with \(opponent)") { [opponentName] in $0.member("with", opponentName) }
        draw()
        let ending = await withTaskGroup(of: Ending?.self) { group in
            group.addTask {
                for await piece in bytes { await self.received(piece) }
                return .opponentLeft
            }
            group.addTask {
                while let event = await self.terminal.next() {
                    if let ending = await self.person(event) { return ending }
                }
                return nil
            }
            defer { group.cancelAll() }
            while let result = await group.next() {
                if let result { return result }
            }
            return .quit
        }
        for hold in holds { hold.cancel() }
        if ending == .opponentLeft {
            terminal.tell("left", "\(opponent) left") { [opponentName] in $0.member("with", opponentName) }
        }
        return ending
    }

    private func received(_ bytes: [UInt8]) {
        for touch in bytes.compactMap(Touch.init(byte:)) where theirs.touched(touch) {
            terminal.tell("pad", "pad \(touch.pad.number) \(touch.isDown ? "down" : "up")") {
                $0.member("pad", touch.pad.number)
                $0.member("state", touch.isDown ? "down" : "up")
            }
        }
        draw()
    }

    private func person(_ event: TerminalEvent) async -> Ending? {
        switch event {
        case .key(.character("q")), .key(.escape), .line("q"): return .left
        case .line("quit"), .ended: return .quit
        case .key(.character(let digit)):
            if let pad = digit.wholeNumberValue.flatMap({ Pad($0) }) { await tap(pad) }
        case .key(.pressed(let x, let y)):
            clicked = PadsView.pad(x, y, terminal.size)
            if let clicked { await touch(.down(clicked)) }
        case .key(.released):
            if let clicked { await touch(.up(clicked)) }
            clicked = nil
        case .line(let text): await typed(text)
        case .redraw: draw(anew: true)
        case .key: break
        }
        return nil
    }

    /// `5` is a tap; `+5` and `-5` are its two halves.
    private func typed(_ text: String) async {
        let digits = text.first == "+" || text.first == "-" ? text.dropFirst() : text[...]
        guard digits.count == 1, let pad = digits.first?.wholeNumberValue.flatMap({ Pad($0) }) else {
            if !text.isEmpty {
                terminal.notice("1 to 9 taps a pad, +1 and -1 hold it and let it go, q leaves the game")
            }
            return
        }
        if text.first != "-" { await touch(.down(pad)) }
        if text.first != "+" { await touch(.up(pad)) }
    }

    /// Holds a pad briefly; longer while the key repeats.
    private func tap(_ pad: Pad) async {
        presses[pad, default: 0] += 1
        let press = presses[pad]
        await touch(.down(pad))
        holds.removeAll { $0.isCancelled }
        // Unstructured, because the person continues meanwhile. It ends with the game.
        let hold = Task {
            try? await Task.sleep(for: Self.hold)
            guard !Task.isCancelled else { return }
            await self.letGo(pad, press)
        }
        holds = holds.suffix(16) + [hold]
    }

    private func letGo(_ pad: Pad, _ press: Int?) async {
        if presses[pad] == press { await touch(.up(pad)) }
    }

    private func touch(_ touch: Touch) async {
        guard mine.touched(touch) else { return }
        draw()
        await send([touch.byte])
    }

    private func draw(anew: Bool = false) {
        let view = PadsView(mine: mine, theirs: theirs, own: own, opponent: opponent)
        terminal.draw(atLeast: PadsView.minimumSize, anew: anew) { view.draw(on: &$0) }
    }
}
