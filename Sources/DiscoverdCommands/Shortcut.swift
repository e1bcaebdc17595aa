#if Commands
internal import CommandFrame
internal import DNSSD
internal import Discovery
internal import DiscoveryControl
internal import Libc

/// `browse TYPE --once` for scripts, answered from a daemon's memory: skips the command-line parser, which takes longer than all the rest
/// (docs/decisions/0012-shortcut.md). Any other command line takes the ordinary way; the output is the same.
enum Shortcut {
    /// Longer than a daemon needs to list thousands of services, and short enough to lose little on one that is stopped.
    private static let limit = Duration.milliseconds(250)

    /// - Parameter arguments: without the program's name.
    /// - Returns: nil, with nothing printed, if the shortcut does not apply.
    static func run(_ arguments: some Collection<String>) -> ExitStatus? {
        guard let wanted = Wanted(arguments), isatty(STDOUT_FILENO) == 0 else { return nil }
        // Its lines do not say whether a service's key is known.
        if wanted.json, KeyStates.areKept { return nil }
        for path in ControlSocketPath.candidates(explicit: nil) {
            let asked = ControlClient(path: path).answer(
                to: WarmAnswer.request(wanted.query, json: wanted.json), within: limit)
            switch asked {
            case .success(let bytes):
                guard let answer = WarmAnswer(bytes, json: wanted.json) else { return nil }
                return print(answer, wanted)
            // No daemon at this socket: try the next.
            case .failure(let error): guard error.code == "no-daemon" else { return nil }
            }
        }
        return nil
    }

    private static func print(_ answer: WarmAnswer, _ wanted: Wanted) -> ExitStatus? {
        // Lost readers are detected by the error of write(2), as in all commands.
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
        ProgramNotices().notice(Subject(types: [wanted.type], domains: [.local]).isNotFound)
        return .notFound
    }

    /// A command line that the shortcut understands. A value.
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
