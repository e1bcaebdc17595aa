#if Commands
internal import CommandFrame
internal import DNSSD
internal import Discovery
internal import DiscoveryControl
internal import Glibc

/// `browse TYPE --once` for a script, answered by a daemon that knows: without the parser of command lines, which takes longer
/// than all the rest (docs/decisions/0012-shortcut.md). What is not exactly this takes the ordinary way, with the same output.
enum Shortcut {
    /// Longer than a daemon that knows takes for thousands of services; a daemon that is stopped costs no more.
    private static let limit = Duration.milliseconds(250)

    /// - Parameter arguments: without the program's name.
    /// - Returns: nil, with nothing printed, when it is not for here.
    static func run(_ arguments: some Collection<String>) -> ExitStatus? {
        guard let wanted = Wanted(arguments), isatty(STDOUT_FILENO) == 0 else { return nil }
        for path in ControlSocketPath.candidates(explicit: nil) {
            let asked = ControlClient(path: path).answer(
                to: WarmAnswer.request(wanted.query, json: wanted.json), within: limit)
            switch asked {
            case .success(let bytes):
                guard let answer = WarmAnswer(bytes, json: wanted.json) else { return nil }
                return print(answer, wanted)
            // Nobody is at this socket: perhaps at the next.
            case .failure(let error): guard error.code == "no-daemon" else { return nil }
            }
        }
        return nil
    }

    private static func print(_ answer: WarmAnswer, _ wanted: Wanted) -> ExitStatus? {
        // Nobody reads: that is told by write(2), as everywhere here.
        signal(SIGPIPE, SIG_IGN)
        answer.tellWhatIsMissing(ProgramNotices())
        let output = Output(for: .current())
        do {
            try output.bytes(answer.lines)
            try output.flush()
        } catch is Output.Unread {
            return .done
        } catch {
            let failure = (error as? CommandError) ?? CommandError(.systemError, String(describing: error))
            ProgramNotices().failure(failure)
            return failure.status
        }
        if answer.hasServices { return .done }
        ProgramNotices().notice(Subject(type: wanted.type, domain: .local).isNotFound)
        return .notFound
    }

    /// A command line that is understood here. A value.
    struct Wanted {
        let type: ServiceType
        let query: QueryString
        let json: Bool

        init?(_ arguments: some Collection<String>) {
            guard arguments.first == "browse" else { return nil }
            var type: ServiceType?
            var (once, resolve, json) = (false, false, false)
            for argument in arguments.dropFirst() {
                switch argument {
                case "-t", "--once": once = true
                case "-r", "--resolve": resolve = true
                case "-rt", "-tr": (once, resolve) = (true, true)
                case "--json": json = true
                default:
                    guard type == nil, !argument.hasPrefix("-") else { return nil }
                    type = try? Parsing.type(argument)
                    if type == nil { return nil }
                }
            }
            guard once, let type else { return nil }
            self.type = type
            self.json = json
            query = ServiceQuery(.type(type, .local), resolution: resolve ? .once : .none).queryString
        }
    }
}
#endif
