import AppSupport
import CommandFrame
import CommandText
import DNSSD
import DiscoveryJSON
import DiscoveryTLS
import PeerSession
import TerminalUI

/// Who is there, who is invited, and the race.
actor RaceTable {
    enum Stage {
        case lobby
        /// A peer wants to race us.
        case asked(Peer, String)
        /// We want to race a peer.
        case asking(Peer)
        case racing(Peer, Race, end: ContinuousClock.Instant)
        case over(Peer, Race)
    }

    /// How long the other side's final count may take.
    private static let lastWord: Duration = .seconds(3)

    let terminal: Terminal
    let session: PeerSession
    let keys: KeyQuestions
    private let news: AsyncStream<KeyNews>
    var pace = LinePace(now: .now)
    private let duration: Duration
    let patience: Duration
    let wanted: String?
    private let acceptsAll: Bool
    let takesFirstKeys: Bool
    var stage = Stage.lobby
    var peers: [Peer] = []
    var selected = 0
    var message = ""
    private var ownName = ""
    /// Why there will be no race, for someone who wanted one.
    var failure: CommandError?
    /// Why the wanted player could not be reached so far, and when to try again: a new program may answer at that name, known only by what
    /// its predecessor announced.
    var trouble: (reason: CommandError, nextTry: ContinuousClock.Instant)?
    var end = ContinuousClock.now

    init(
        terminal: Terminal, session: PeerSession, keys: KeyQuestions, news: AsyncStream<KeyNews>,
        duration: Duration, patience: Duration, wanted: String?, acceptsAll: Bool, takesFirstKeys: Bool
    ) {
        self.terminal = terminal
        self.session = session
        self.keys = keys
        self.news = news
        self.takesFirstKeys = takesFirstKeys
        self.duration = duration
        self.patience = patience
        self.wanted = wanted
        self.acceptsAll = acceptsAll
    }

    /// Whether the program ends with the first race.
    var isForOneRace: Bool { wanted != nil || acceptsAll }

    /// The result of the finished race, if it is the only one.
    var verdict: String? {
        guard isForOneRace, case .over(let peer, let race) = stage else { return nil }
        return Self.text(race, peer)
    }

    /// Runs until the person leaves, or the only race is over.
    func run() async throws {
        end = .now + patience
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await self.session.run()
                return true
            }
            group.addTask {
                for await event in self.session.events {
                    if try await self.happened(event) { return true }
                }
                return true
            }
            group.addTask {
                for await _ in self.keys.changes { await self.keyAsked() }
                return false
            }
            group.addTask {
                for await news in self.news { await self.told(news) }
                return false
            }
            group.addTask {
                while let event = await self.terminal.next() {
                    if await self.person(event) { return true }
                    if event == .ended { return false }
                }
                return false
            }
            group.addTask {
                while !Task.isCancelled {
                    if try await self.tick() { return true }
                    try await Task.sleep(for: .milliseconds(100))
                }
                return false
            }
            if wanted != nil {
                group.addTask {
                    try await Task.sleep(for: self.patience)
                    try await self.wantedDidNotCome()
                    return false
                }
            }
            defer { group.cancelAll() }
            while let isEnd = try await group.next() {
                if isEnd { break }
            }
            await session.disconnectFromAll()
        }
    }

    // MARK: The network

    /// - Returns: whether the program ends.
    private func happened(_ event: SessionEvent) async throws -> Bool {
        switch event {
        case .published(let service, let name):
            ownName = name.text
            terminal.tell("published", "here as \(name)") { $0.publishedMembers(service, name: name) }
        case .backend(let state):
            if case .unavailable(let reason) = state { message = "No mDNS: \(reason)" }
            terminal.tell(ServiceEvent.backend(state))
        case .changed(let peer): try await changed(peer)
        case .invited(let peer): await invited(peer)
        case .received(let bytes, let peer, _):
            guard case .racing(let other, var race, let end) = stage, other.id == peer.id,
                let message = TapMessage(bytes)
            else { break }
            race.received(message)
            stage = .racing(other, race, end: end)
            terminal.tell("tap", "\(peer): \(race.theirs)") {
                $0.member("player", "opponent")
                $0.member("count", race.theirs)
            }
        }
        draw()
        return try await tick()
    }

    private func changed(_ peer: Peer) async throws {
        let isNew = !peers.contains { $0.id == peer.id }
        peers.removeAll { $0.id == peer.id }
        if peer.state != .unavailable && peer.state != .disconnected {
            peers.append(peer)
            peers.sort { ($0.displayName, $0.id) < ($1.displayName, $1.id) }
        }
        selected = min(selected, max(0, peers.count - 1))
        switch (peer.state, stage) {
        case (.available, _) where isNew:
            tell("added", "found", peer)
        case (.unavailable, _), (.disconnected, .lobby), (.disconnected, .over):
            if !isNew { tell("removed", "lost", peer) }
        case (.connected, _): begin(with: peer)
        case (.disconnected, .racing(let other, let race, _)) where other.id == peer.id:
            if !race.isOverThere { try left(peer) }
        case (.available, .asked(let other, _)) where other.id == peer.id:
            message = "\(peer) does not want to race any more."
            stage = .lobby
        default: break
        }
    }

    private func tell(_ event: String, _ word: String, _ peer: Peer) {
        terminal.tell(event, "\(word) \(peer)") { $0.peer(peer) }
    }

    private func left(_ peer: Peer) throws {
        let text = "\(peer) left before the end of the race"
        message = text + "."
        stage = .lobby
        guard isForOneRace else { return terminal.tell("left", text) { $0.peer(peer) } }
        // Close the screen first; the line is printed below it.
        terminal.close()
        terminal.tell("left", text) { $0.peer(peer) }
        throw CommandError(told: text, .notFound)
    }

    private func invited(_ peer: Peer) async {
        let (isWanted, claim) = (await isWanted(peer), await claim(of: peer))
        switch stage {
        case .lobby, .over:
            if acceptsAll || isWanted { return await session.accept(peer.id) }
            stage = .asked(peer, claim)
            terminal.tell("invited", "\(peer)\(claim) wants to race: y or n") { $0.peer(peer) }
        case .asked, .asking, .racing: await session.decline(peer.id)
        }
    }

    private func wantedDidNotCome() throws {
        if case .lobby = stage, let wanted {
            throw trouble?.reason ?? CommandError(.notFound, "\(wanted.escapedForTerminal) was not found")
        }
    }

    // MARK: The race

    private func begin(with peer: Peer) {
        if case .racing = stage { return }
        message = ""
        stage = .racing(peer, Race(), end: .now + duration)
        terminal.tell("start", "racing with \(peer): tap!") {
            $0.peer(peer)
            $0.member("seconds", Int(self.duration.components.seconds))
        }
        draw()
    }

    /// - Returns: whether the program ends.
    private func tick() async throws -> Bool {
        if let failure, isForOneRace { throw failure }
        askWanted()
        guard case .racing(let peer, var race, let end) = stage else { return false }
        if !race.isOver, ContinuousClock.now >= end {
            let message = race.timeIsUp()
            stage = .racing(peer, race, end: end)
            try? await session.send(message.bytes, to: [peer.id], .reliable)
            guard case .racing(_, let now, _) = stage else { return false }
            race = now
        }
        let isLate = ContinuousClock.now >= end + Self.lastWord
        if race.outcome != nil || (race.isOver && isLate) { return await finish(peer, race) }
        draw()
        return false
    }

    private func finish(_ peer: Peer, _ race: Race) async -> Bool {
        stage = .over(peer, race)
        terminal.tell("over", Self.text(race, peer)) {
            $0.member("outcome", race.outcome?.rawValue ?? "unknown")
            $0.member("mine", race.mine)
            $0.member("theirs", race.theirs)
        }
        draw()
        guard isForOneRace else {
            // One side disconnects; the other is notified.
            if session.id < peer.id { await session.disconnect(from: peer.id) }
            return false
        }
        // The last message is on its way: the other side closes, or this one after a moment.
        try? await Task.sleep(for: .milliseconds(200))
        return true
    }

    private static func text(_ race: Race, _ peer: Peer) -> String {
        let counts = "\(race.mine) : \(race.theirs)"
        return switch race.outcome {
        case .won: "You win! \(counts)"
        case .lost: "\(peer) wins. \(counts)"
        case .draw: "A draw. \(counts)"
        case nil: "\(peer) did not tell its last count. \(counts)"
        }
    }

    // MARK: The screen

    func draw(anew: Bool = false) {
        let question = question?.introduction
        terminal.draw(atLeast: RaceView.minimumSize, anew: anew) { canvas in
            if let question { return RaceView.question(question, on: &canvas) }
            switch stage {
            case .racing(let peer, let race, let end):
                let left = max(0, Int((end - .now).components.seconds))
                RaceView.race(
                    race, own: ownName, opponent: peer.displayName, left: left,
                    of: Int(duration.components.seconds), on: &canvas)
            case .over(let peer, let race): drawLobby(Self.text(race, peer), on: &canvas)
            case .asked(let peer, let claim): drawLobby("\(peer)\(claim) wants to race: y or n", on: &canvas)
            case .asking(let peer): drawLobby("Waiting for \(peer) …", on: &canvas)
            case .lobby: drawLobby(message, on: &canvas)
            }
        }
    }

    private func drawLobby(_ message: String, on canvas: inout Canvas) {
        RaceView.lobby(peers, selected, message: message, name: ownName, on: &canvas)
    }
}
