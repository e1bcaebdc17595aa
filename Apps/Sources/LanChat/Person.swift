import ArgumentParser
import Glibc
import LanChatCore

/// What a line means that a person typed.
enum Said: Hashable {
    /// To be sent.
    case request(String)
    case nothing
    case leave
    /// A command that there is not.
    case unknown

    /// What to answer to `unknown`.
    static let help = ChatEvent.notice("commands: /who, /nick NICK, /quit; // says a line that begins with /")

    init(_ line: String) {
        let line = ChatText.clean(line.utf8)
        switch line {
        case "": self = .nothing
        case "/quit": self = .leave
        case "/who": self = .request("who:")
        case let line where line.hasPrefix("//"): self = .request("msg:\(line.dropFirst())")
        case let line where line.hasPrefix("/nick "): self = .request("iam:\(line.dropFirst(6))")
        case let line where line.hasPrefix("/"): self = .unknown
        default: self = .request("msg:\(line)")
        }
    }
}

/// Who to be.
struct NickOption: ParsableArguments {
    @Option(name: .long, help: "Who to be; default: the user's name.")
    var nick: String?

    func validate() throws {
        guard let nick else { return }
        do throws(Nick.Refusal) {
            _ = try Nick(nick)
        } catch {
            throw ValidationError("\(error).")
        }
        // What is not safe for a terminal, as a part of the command line that is no UTF-8.
        if ChatText.clean(nick.utf8) != nick { throw ValidationError("a nick has printable characters only.") }
    }

    /// The nick that was given, the user's name, or `guest` and a number.
    var own: String {
        if let nick { return nick }
        let user = getenv("USER").map { ChatText.clean(String(cString: $0).utf8) } ?? ""
        return (try? Nick(user))?.description ?? "guest\(getpid() % 1000)"
    }
}
