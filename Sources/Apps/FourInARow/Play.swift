import AppSupport
import DNSSD
import DiscoveryJSON
import Pairing
import TerminalUI

/// What both commands do with a connection.
enum Play {
    static let type = "_fourinarow._tcp"

    /// Plays until somebody leaves.
    static func run(_ link: ByteLink, me: Player, opponent: String, _ terminal: Terminal) async throws {
        let ending = try await link.withBytes { bytes, sender in
            let match = Match(terminal: terminal, me: me, opponent: opponent) { await sender.send($0) }
            do {
                let ending = try await match.run(bytes)
                if ending == .left { await match.sayGoodbye() }
                return ending
            } catch {
                await match.sayGoodbye()
                throw error
            }
        }
        // First the screen: it is for everyone to read who still looks at it.
        terminal.close()
        guard case .opponentLeft = ending else { return }
        terminal.tell("left", "\(opponent.escapedForTerminal) left") { $0.member("with", opponent) }
        if ending == .opponentLeft(isDone: false) {
            throw AppError(.notDone, "\(opponent.escapedForTerminal) left before the end of the game")
        }
    }
}
