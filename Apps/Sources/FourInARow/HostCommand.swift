import AppSupport
import ArgumentParser
import CommandText
import DNSSD
import Discovery
import DiscoveryJSON
import DiscoveryNIO
import Pairing
import TerminalUI

struct HostCommand: AppCommand {
    static let configuration = CommandConfiguration(
        commandName: "host", abstract: "Publishes a game and waits for an opponent.")

    @Option(
        name: .long, help: "The name of the game; default: this machine's.", transform: { try ServiceName($0) })
    var name: ServiceName?

    @OptionGroup var game: GameOptions
    @OptionGroup var options: AppOptions

    func run(in app: App) async throws {
        let network = try app.network()
        let waiting = try await network.listenForOne(
            name ?? .ofThisMachine(), type: try ServiceType(Play.type), txt: [Play.namesKey: "1"],
            on: app.options.interfaces, initializer: ByteLink.make)
        let terminal = Terminal.open(for: app, plain: game.plain)
        defer { terminal.close() }
        guard let link = try await Waiting(terminal: terminal, listener: waiting).run() else { return }
        // Send the goodbye meanwhile, so that no one finds a game that is full.
        async let withdrawn = waiting.close()
        let own = waiting.publication.status.name.text
        try await Play.run(link, me: .host, own: own, opponent: link.remote, terminal)
        _ = await withdrawn
    }
}

/// Waits until an opponent arrives, or the person leaves.
private struct Waiting: Sendable {
    /// The moves of a whole game.
    private static let maximumEarly = Board.columns * Board.rows

    let terminal: Terminal
    let listener: SingleListener<ByteLink>

    func run() async throws -> ByteLink? {
        let found = try await withThrowingTaskGroup(of: ByteLink??.self) { group -> ByteLink? in
            group.addTask { .some(try await listener.connection()) }
            group.addTask {
                for await status in listener.publication.updates { try show(status) }
                return nil
            }
            group.addTask {
                await terminal.observe(listener.publication)
                return nil
            }
            group.addTask { await personLeft() ? .some(nil) : nil }
            defer { group.cancelAll() }
            while let result = try await group.next() {
                if let result { return result }
            }
            return nil
        }
        if let found { return found }
        // An opponent may have arrived at that very moment.
        return await listener.close()
    }

    /// Waits until the person leaves. The end of standard input does not count: a host may have no one typing yet.
    private func personLeft() async -> Bool {
        var early: [TerminalEvent] = []
        // Input typed before the opponent arrives counts once the game begins.
        defer { terminal.putBack(early) }
        while let event = await terminal.next() {
            switch event {
            case .key(.character("q")), .key(.escape), .line("q"), .line("quit"): return true
            case .redraw: draw(listener.publication.status, anew: true)
            case .ended: return false
            default: if early.count < Self.maximumEarly { early.append(event) }
            }
        }
        return false
    }

    private func show(_ status: PublicationStatus) throws {
        switch status.state {
        case .failed(let error), .conflicted(let error): throw error
        case .established:
            let service = listener.publication.service
            terminal.tell("published", "waiting for an opponent as \(status.name), port \(service.port)") {
                $0.publishedMembers(service, name: status.name)
            }
        default: break
        }
        draw(status)
    }

    private func draw(_ status: PublicationStatus, anew: Bool = false) {
        let text =
            switch status.state {
            case .established: "Waiting for an opponent. Your game is called \(status.name)."
            case .waiting(let reason): "No mDNS: \(reason)"
            default: "Publishing …"
            }
        terminal.draw(atLeast: BoardLayout.minimumSize, anew: anew) { canvas in
            canvas.put(title: "Four in a Row", keys: "q: leave")
            canvas.put(text, rows: canvas.layout.body.dropFirst(), column: 2)
        }
    }
}
