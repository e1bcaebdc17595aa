import AppSupport
import CommandFrame
import DNSSD
import DiscoveryJSON
import Pairing
import TerminalUI

/// What both commands do with a connection.
enum Play {
    static let type = "_fourinarow._tcp"
    /// TXT key of a host that accepts a greeting: `names=1`.
    static let namesKey = "names"

    /// Plays until one side leaves.
    /// - Parameter greets: whether the host accepts the guest's name.
    static func run(
        _ link: ByteLink, me: Player, own: String, opponent: String, greets: Bool = false, _ terminal: Terminal
    ) async throws {
        let (ending, opponent) = try await link.withBytes { bytes, sender in
            let match = Match(terminal: terminal, me: me, own: own, opponent: opponent) { await sender.send($0) }
            if greets { await sender.send(Packet.start(name: own).bytes) }
            do {
                let ending = try await match.run(bytes)
                if ending == .left { await match.sayGoodbye() }
                return (ending, await match.opponentName)
            } catch {
                await match.sayGoodbye()
                throw error
            }
        }
        // Close the screen first, so that people still looking at it can read the message.
        terminal.close()
        guard case .opponentLeft(let isDone) = ending else { return }
        let text = "\(opponent.escapedForTerminal) left" + (isDone ? "" : " before the end of the game")
        terminal.tell("left", text) { $0.member("with", opponent) }
        if !isDone { throw CommandError(told: text, .notFound) }
    }
}
