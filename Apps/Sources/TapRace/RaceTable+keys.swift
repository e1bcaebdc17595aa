import AppSupport
import AppTLS
import CommandFrame
import CommandText
import DNSSD
import DiscoveryTLS
import PeerIdentity
import PeerSession
import TerminalUI

/// What became known of a key, for the person.
enum KeyNews: Sendable {
    /// A caller was not let in.
    case refused(PeerRefusal)
    /// A name was bound to the key of a machine that was paired; the sentence says so.
    case bound(String)
}

/// Whose keys the players have.
extension RaceTable {
    /// The current question; none during a race.
    var question: PeerTLS.Question? { if case .racing = stage { nil } else { keys.current } }

    /// Shows the current question about a key; during a race there is no time for it.
    func keyAsked() {
        if case .racing = stage { return keys.dismiss() }
        if let question {
            let ending = "Is it the one that 'discoverd key show' prints there? y or n"
            terminal.tell("question", "\(question.introduction)\n\(ending)")
        }
        draw()
    }

    /// Takes the answer to the current question.
    /// - Returns: whether there is a question; then the event is for it.
    func answered(by event: TerminalEvent) -> Bool {
        guard question != nil else { return false }
        switch event {
        case .key(.character("y")), .line("y"), .line("yes"): keys.answer(true)
        case .key(.character("n")), .line("n"), .line("no"): keys.answer(false)
        case .redraw: draw(anew: true)
        case .key(.escape), .key(.character("q")), .line("q"), .line("quit"), .ended: return false
        case .key, .line: break
        }
        return true
    }

    /// Whether an invitation comes from the player whom the command line names: by that name's key, or the first that comes.
    func isWanted(_ peer: Peer) async -> Bool {
        guard let wanted, wanted == peer.displayName else { return false }
        if case .service = await session.identity(of: peer.id)?.name { return true }
        return takesFirstKeys
    }

    /// What the inviting side calls itself, if its key says another name than it shows.
    func claim(of peer: Peer) async -> String {
        guard case .label(let label) = await session.identity(of: peer.id)?.name, label != peer.displayName else {
            return ""
        }
        return " (with the key of \(PeerName.label(label).text))"
    }

    func told(_ news: KeyNews) {
        switch news {
        case .refused(let refusal): refused(refusal)
        case .bound(let sentence):
            terminal.notice(sentence)
            message = sentence
            draw()
        }
    }

    private func refused(_ refusal: PeerRefusal) {
        guard let suppressed = pace.line(now: .now) else { return }
        let more = suppressed > 0 ? [" (and \(suppressed) more)"] : []
        for line in ["a caller was refused: \(refusal.headline)"] + refusal.advice.map({ "  \($0)" }) + more {
            terminal.notice(line)
        }
        if case .lobby = stage {
            message = "A caller was refused: \(refusal.headline)"
            draw()
        }
    }
}

extension CommandError {
    /// Why there is no race.
    init(_ error: SessionError) {
        let status: ExitStatus =
            switch error.code {
            case .unreachable: .unreachable
            case .notTrusted: .notPermitted
            default: .notFound
            }
        self = error.refusal.map { CommandError($0) } ?? CommandError(status, error.message)
    }
}
