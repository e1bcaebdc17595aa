import ArgumentParser
import Glibc
import LanChatCore

/// The meaning of a line that a person typed.
enum Said: Hashable {
    /// A request to send.
    case request(String)
    case nothing
    case leave
    /// An unknown command.
    case unknown

    /// The answer to `unknown`.
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

/// The nick to use.
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
        // Characters that are unsafe for a terminal; a command line with invalid UTF-8 has them too.
        if ChatText.clean(nick.utf8) != nick { throw ValidationError("a nick has printable characters only.") }
    }

    /// The given nick, else the user's name, else `guest` and a number.
    var own: String {
        if let nick { return nick }
        let user = getenv("USER").map { ChatText.clean(String(cString: $0).utf8) } ?? ""
        return (try? Nick(user))?.description ?? "guest\(getpid() % 1000)"
    }
}
