#if Commands
internal import CommandFrame
internal import DNSSD
internal import Discovery
internal import DiscoveryControl
internal import DiscoveryJSON
internal import Libc

/// A daemon's immediate answer to `browse --once`, as lines to print. A value.
struct WarmAnswer {
    private static let settled = (text: "# settled\n", lines: "{\"v\":1,\"event\":\"settled\"}\n")
    private static let degradedMark = "# degraded\t"

    private let isJSON: Bool
    /// The lines to print.
    private(set) var lines: ArraySlice<UInt8>
    /// The lines include at least one service.
    private(set) var hasServices: Bool
    /// Why services may be missing, in the daemon's words.
    private(set) var degraded: String?

    /// The request for this answer.
    static func request(_ query: ServiceQuery, json: Bool) -> ControlClient.Request {
        var query = query.queryString
        query.add("wait", "0")
        query.add("format", json ? "lines" : "text")
        return ControlClient.Request("GET", "/v1/services?\(query.text)")
    }

    /// - Returns: nil if the daemon does not know everything yet; then read its stream.
    init?(_ answer: [UInt8], json: Bool) {
        let end = json ? Self.settled.lines : Self.settled.text
        guard answer.suffix(64).reversed().starts(with: end.utf8.reversed()) else { return nil }
        isJSON = json
        lines = answer[...]
        hasServices = false
        if json {
            // A report of missing services comes first, and is shown to people too.
            for line in answer.split(separator: UInt8(ascii: "\n"), maxSplits: 2).prefix(2) {
                let value = try? JSONReader.read(Array(line))
                if value?["event"]?.string == "degraded" { degraded = value?["reason"]?.string ?? "" }
                if value?["event"]?.string == "added" { hasServices = true }
            }
            return
        }
        lines = lines.dropLast(end.utf8.count)
        if lines.starts(with: Self.degradedMark.utf8), let end = lines.firstIndex(of: UInt8(ascii: "\n")) {
            degraded = String(decoding: lines[..<end].dropFirst(Self.degradedMark.utf8.count), as: UTF8.self)
            lines = lines[(end + 1)...]
        }
        hasServices = !lines.isEmpty
    }

    /// Prints it.
    func show(_ query: BrowseQuery, to output: Output, _ notices: ProgramNotices) throws -> ExitStatus {
        if let degraded { notices.degraded(degraded.escapedForTerminal) }
        try isJSON ? output.json(lines: lines) : output.bytes(lines)
        try output.flush()
        if hasServices { return .done }
        notices.notice(query.isNotFound())
        return .notFound
    }
}

/// `browse TYPE --once` for scripts, answered from a daemon's memory: skips the command-line parser, which takes longer than all the rest
/// (docs/decisions/0012-shortcut.md). Any other command line takes the ordinary way; the output is the same.
struct BrowseWords {
    let query: BrowseQuery
    /// The same question, to a daemon that may know the whole list.
    private let listing: ServiceQuery
    let version: JSONVersion?
    private var json: Bool { version != nil }

    /// Longer than a daemon needs to list thousands of services, and short enough to lose little on one that is stopped.
    private static let limit = Duration.milliseconds(250)

    /// - Parameter arguments: without the program's name.
    /// - Returns: nil where the words mean more than this.
    init?(_ arguments: some Collection<String>) {
        guard arguments.first == "browse" else { return nil }
        var type: ServiceType?
        var version: JSONVersion?
        var (once, resolve) = (false, false)
        for argument in arguments.dropFirst() {
            switch argument {
            case "-t", "--once": once = true
            case "-r", "--resolve": resolve = true
            case "-rt", "-tr": (once, resolve) = (true, true)
            case "--json": version = .one
            case "--json=2": version = .two
            default:
                // Of a type in another form there may be something to say.
                guard type == nil, argument.hasPrefix("_") else { return nil }
                type = try? Parsing.type(argument)
                if type == nil { return nil }
            }
        }
        guard once, let type else { return nil }
        self.version = version
        query = BrowseQuery(types: [type], resolution: resolve ? .once : .none)
        listing = ServiceQuery(.type(type, .local), resolution: query.resolution)
    }

    /// - Returns: nil, with nothing printed, where no daemon knows the whole list.
    func run() -> ExitStatus? {
        // Its lines do not say whether a service's key is known.
        guard isatty(STDOUT_FILENO) == 0, !(json && KeyStates.areKept) else { return nil }
        for path in ControlSocketPath.candidates(explicit: nil) {
            let asked = ControlClient(path: path).answer(
                to: WarmAnswer.request(listing, json: json), within: Self.limit)
            switch asked {
            case .success(let bytes): return WarmAnswer(bytes, json: json).map(show)
            // No daemon at this socket: try the next.
            case .failure(let error): guard error.code == "no-daemon" else { return nil }
            }
        }
        return nil
    }

    private func show(_ answer: WarmAnswer) -> ExitStatus {
        // Lost readers are detected by the error of write(2), as in all commands.
        signal(SIGPIPE, SIG_IGN)
        do {
            return try answer.show(query, to: Output(for: .current(), version ?? .one), ProgramNotices())
        } catch is Output.Unread {
            return .done
        } catch {
            let failure = CommandError(of: error, asking: DomainWish())
            FailureReport(version: version).tell(failure)
            return failure.status
        }
    }
}
#endif
