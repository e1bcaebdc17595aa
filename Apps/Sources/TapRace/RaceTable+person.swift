import AppSupport
import CommandFrame
import CommandText
import DNSSD
import DiscoveryJSON
import PeerSession
import TerminalUI

/// Handles the person's input.
extension RaceTable {
    /// - Returns: whether the person leaves.
    func person(_ event: TerminalEvent) async -> Bool {
        if answered(by: event) { return false }
        switch (stage, event) {
        case (_, .redraw): draw(anew: true)
        case (_, .key(.escape)), (_, .line("quit")): return true
        case (.racing, .key), (.racing, .line): await tap()
        case (_, .key(.character("q"))), (_, .line("q")): return true
        case (.asked(let peer, _), .key(.character("y"))), (.asked(let peer, _), .line("y")):
            await session.accept(peer.id)
        case (.asked(let peer, _), .key(.character("n"))), (.asked(let peer, _), .line("n")):
            await session.decline(peer.id)
            stage = .lobby
        case (.lobby, .key(.up)), (.over, .key(.up)): selected = max(0, selected - 1)
        case (.lobby, .key(.down)), (.over, .key(.down)): selected = min(max(0, peers.count - 1), selected + 1)
        case (.lobby, .key(.enter)), (.over, .key(.enter)):
            if peers.indices.contains(selected) { ask(peers[selected]) }
        case (.lobby, .line(let text)), (.over, .line(let text)): askByName(text)
        case (_, .ended): return !isForOneRace && isIdle
        default: return false
        }
        draw()
        return false
    }

    private var isIdle: Bool {
        switch stage {
        case .lobby, .over, .asked: true
        case .asking, .racing: false
        }
    }

    private func askByName(_ text: String) {
        guard !text.isEmpty else { return }
        if let peer = peers.first(where: { $0.displayName == text || $0.description == text }) { return ask(peer) }
        terminal.notice("nobody here is called \(text.escapedForTerminal)")
    }

    func ask(_ peer: Peer) {
        guard peer.state == .available else { return }
        stage = .asking(peer)
        terminal.tell("inviting", "inviting \(peer)") { $0.peer(peer) }
        // Unstructured, because the person may leave meanwhile. It ends with the session.
        Task {
            do throws(SessionError) {
                try await session.connect(to: peer.id, within: patience)
            } catch {
                await notAccepted(peer, error)
            }
        }
    }

    private func notAccepted(_ peer: Peer, _ error: SessionError) async {
        guard case .asking(let asked) = stage, asked.id == peer.id else { return }
        stage = .lobby
        let reason = CommandError(error)
        let isFinal = error.code == .declined || error.code == .notTrusted
        let isLast = wanted == nil || isFinal || ContinuousClock.now >= end
        // An error that ends the program is reported at its end.
        if message != reason.message, !(isLast && isForOneRace) {
            for line in [reason.message] + reason.advice.map({ "  \($0)" }) { terminal.notice(line) }
        }
        message = reason.message
        if isLast {
            failure = reason
        } else {
            trouble = (reason, .now + .seconds(1))
        }
        draw()
    }

    /// Invites the player that the command line names, once it appears.
    func askWanted() {
        guard case .lobby = stage, let wanted, trouble.map({ ContinuousClock.now >= $0.nextTry }) ?? true else {
            return
        }
        if let peer = peers.first(where: { $0.displayName == wanted && $0.state == .available }) { ask(peer) }
    }

    private func tap() async {
        guard case .racing(let peer, var race, let end) = stage, let message = race.tapped() else { return }
        stage = .racing(peer, race, end: end)
        // A lost message does no harm: the next one supersedes it.
        try? await session.send(message.bytes, to: [peer.id], .unreliable)
        if !terminal.isInteractive { return }
        draw()
    }
}
