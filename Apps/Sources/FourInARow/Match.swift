import AppSupport
import CommandFrame
import CommandText
import DNSSD
import DiscoveryJSON
import Pairing
import TerminalUI

/// The games with one opponent until one side leaves: handles the person's input, the opponent's packets and the screen.
actor Match {
    /// Why the match is over.
    enum Ending: Hashable, Sendable {
        /// The person left.
        case left
        /// The opponent left; `isDone` if no game was in progress.
        case opponentLeft(isDone: Bool)
    }

    /// How long a guest may take to give a name; without one, its address is shown.
    private static let patience: Duration = .milliseconds(500)

    let terminal: Terminal
    let me: Player
    /// Our name; safe for a terminal.
    private let own: String
    /// The opponent's name as received; an address until it is known.
    private(set) var opponentName: String
    /// The opponent's name, safe for a terminal.
    private var opponent: String { opponentName.escapedForTerminal }
    /// Whether the opponent was announced: a host waits briefly for a guest's name.
    private var isAnnounced = false
    /// The person's input until the first game begins.
    private var early: [TerminalEvent] = []
    private var hasHeard = false
    private let send: @Sendable ([UInt8]) async -> Void
    private var decoder = PacketDecoder()
    private(set) var game = Game(first: .host)
    private var nextFirst = Player.guest
    private(set) var isReady = false
    private(set) var isOpponentReady = false
    /// The column where the person's disc would fall.
    private(set) var column = Board.columns / 2
    private(set) var message = ""
    /// Moves typed as lines before it was our turn; at most as many as the terminal buffers.
    private var waiting: [Int] = []
    private var isInputOver = false

    init(
        terminal: Terminal, me: Player, own: String, opponent: String,
        send: @escaping @Sendable ([UInt8]) async -> Void
    ) {
        self.terminal = terminal
        self.me = me
        self.own = own.escapedForTerminal
        opponentName = opponent
        self.send = send
    }

    /// Plays over the connection until one side leaves.
    /// - Throws: `CommandError` if the opponent breaks the rules; the connection's error.
    func run(_ inbound: ByteLink.Bytes) async throws -> Ending {
        if me == .host { await send(Packet.start().bytes) }
        if me == .guest { begin() }
        draw()
        return try await withThrowingTaskGroup(of: Ending?.self) { group in
            group.addTask {
                for await bytes in inbound {
                    if let ending = try await self.received(bytes) { return ending }
                }
                return Task.isCancelled ? nil : await self.connectionEnded()
            }
            group.addTask {
                while let event = await self.terminal.next() {
                    if let ending = try await self.person(event) { return ending }
                    if event == .ended { return nil }
                }
                return nil
            }
            group.addTask {
                try await Task.sleep(for: Self.patience)
                return try await self.announce()
            }
            defer { group.cancelAll() }
            while let ending = try await group.next() {
                if let ending { return ending }
            }
            throw CancellationError()
        }
    }

    /// Reports, once, that the first game begins.
    private func begin() {
        guard !isAnnounced else { return }
        isAnnounced = true
        terminal.tell("playing", "playing with \(opponent)") { [me, opponentName] in
            $0.member("with", opponentName)
            $0.member("as", me == .host ? "host" : "guest")
        }
        beginGame()
    }

    /// Begins the first game, and replays the person's input from before.
    private func announce() async throws -> Ending? {
        guard !isAnnounced else { return nil }
        begin()
        defer { early = [] }
        for event in early {
            if let ending = try await person(event) { return ending }
        }
        return try await playWaiting()
    }

    /// Tells the opponent that we are leaving.
    func sayGoodbye() async { await send(Packet.end.bytes) }

    // MARK: The opponent

    private func received(_ bytes: [UInt8]) async throws -> Ending? {
        let packets: [Packet]
        do {
            packets = try decoder.received(bytes)
        } catch {
            throw refusal(error.description)
        }
        for packet in packets {
            if me == .host, !hasHeard, case .start(let name?) = packet { opponentName = name }
            if let ending = try await announce() { return ending }
            switch packet {
            case .start: try opponentStarts()
            case .column(let column): try await opponentPlays(column)
            case .end: return connectionEnded()
            }
            hasHeard = true
            if let ending = try await playWaiting() { return ending }
        }
        return nil
    }

    private func opponentPlays(_ column: Int) async throws {
        do {
            try game.play(me.other, column: column)
        } catch {
            throw refusal(error.description)
        }
        tellMove(column, isMine: false)
    }

    private func opponentStarts() throws {
        guard game.outcome != nil else {
            // The first game needs no such packet, but as a greeting it does no harm.
            guard game.last == nil || !hasHeard else { throw refusal("a new game in the middle of one") }
            return
        }
        isOpponentReady = true
        message = "\(opponent) wants another game."
        if !isReady { terminal.tell("ready", "\(opponent) wants another game: n, or q") }
        beginIfBothAreReady()
        draw()
    }

    private func connectionEnded() -> Ending {
        begin()
        return .opponentLeft(isDone: game.outcome != nil)
    }

    private func refusal(_ reason: String) -> CommandError {
        CommandError(.badData, "\(opponent) does not keep to the rules: \(reason)")
    }

    // MARK: The person

    private func person(_ event: TerminalEvent) async throws -> Ending? {
        if !isAnnounced, event != .redraw, event != .ended {
            if early.count < Board.columns * Board.rows { early.append(event) }
            return nil
        }
        switch event {
        case .key(.left): column = max(0, column - 1)
        case .key(.right): column = min(Board.columns - 1, column + 1)
        case .key(.enter), .key(.down), .key(.character(" ")): try await play(column)
        case .key(.character("q")), .key(.escape), .line("q"), .line("quit"): return .left
        case .key(.character("n")), .line("n"): try await wantAnother()
        case .key(.character(let digit)):
            guard let number = digit.wholeNumberValue, (1...Board.columns).contains(number) else { return nil }
            column = number - 1
            try await play(column)
        case .key(.pressed(let x, let y)):
            guard let clicked = BoardLayout(terminal.size).column(x, y) else { return nil }
            column = clicked
            try await play(column)
        case .line(let text): return try await typed(text)
        case .redraw: draw(anew: true)
        case .ended:
            isInputOver = true
            return try await playWaiting()
        case .key: return nil
        }
        draw()
        return nil
    }

    private func typed(_ text: String) async throws -> Ending? {
        guard let number = Int(text) else {
            if !text.isEmpty { terminal.notice("1 to \(Board.columns) plays, n begins another game, q leaves") }
            return nil
        }
        waiting.append(number - 1)
        return try await playWaiting()
    }

    /// Plays what was typed before it was our turn. The end of input leaves only if it is not the opponent's turn.
    private func playWaiting() async throws -> Ending? {
        while !waiting.isEmpty, game.outcome == nil, game.turn == me {
            try await play(waiting.removeFirst())
        }
        if game.outcome != nil { waiting = [] }
        guard isAnnounced else { return nil }
        let isIdle = game.outcome != nil || game.turn == me
        return isInputOver && isIdle ? .left : nil
    }

    private func play(_ column: Int) async throws {
        guard game.outcome == nil else {
            terminal.notice("the game is over: n begins another, q leaves")
            return
        }
        do {
            try game.play(me, column: column)
        } catch {
            message = "No: \(error)."
            terminal.notice("\(error)")
            return
        }
        message = ""
        tellMove(column, isMine: true)
        await send(Packet.column(column).bytes)
    }

    private func wantAnother() async throws {
        guard game.outcome != nil, !isReady else { return }
        isReady = true
        message = "Waiting for \(opponent) …"
        // Before sending, which lets other packets in: the opponent's first move may be among them.
        beginIfBothAreReady()
        await send(Packet.start().bytes)
    }

    private func beginIfBothAreReady() {
        guard isReady, isOpponentReady else { return }
        (isReady, isOpponentReady) = (false, false)
        game = Game(first: nextFirst)
        nextFirst = nextFirst.other
        beginGame()
    }

    // MARK: What is shown

    private func beginGame() {
        message = ""
        terminal.tell("start", game.turn == me ? "your turn" : "\(opponent) begins") { [game, me] in
            $0.member("first", game.turn == me ? "you" : "opponent")
        }
        draw()
    }

    private func tellMove(_ column: Int, isMine: Bool) {
        if !isMine { message = "" }
        let who = isMine ? "you" : opponent
        terminal.tell(
            "move", "\(who): column \(column + 1)\n\(BoardView.lines(of: game, me: me).joined(separator: "\n"))"
        ) {
            $0.member("player", isMine ? "you" : "opponent")
            $0.member("column", column + 1)
        }
        if let text = outcomeText {
            terminal.tell("over", text) { [outcomeName] in $0.member("outcome", outcomeName) }
        } else if !isMine {
            terminal.tell("turn", "your turn")
        }
        draw()
    }

    private func draw(anew: Bool = false) {
        guard terminal.isInteractive else { return }
        let state = outcomeText ?? (game.turn == me ? "Your turn." : "\(opponent) thinks …")
        let keys = game.outcome == nil ? "q: leave   1-7, or Left/Right and Enter: play" : "q: leave   n: another game"
        let view = BoardView(game: game, me: me, own: own, opponent: opponent, column: column)
        terminal.draw(atLeast: BoardLayout.minimumSize, anew: anew) {
            view.draw(on: &$0, state: state, message: message, keys: keys)
        }
    }

    private var outcomeName: String {
        switch game.outcome {
        case .won(let player, _): player == me ? "won" : "lost"
        case .draw: "draw"
        case nil: "none"
        }
    }

    private var outcomeText: String? {
        switch game.outcome {
        case .won(let player, _): player == me ? "You win!" : "\(opponent) wins."
        case .draw: "A draw: the board is full."
        case nil: nil
        }
    }
}
