#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import DiscoveryJSON
internal import DiscoverySystem

/// Options that every command takes, and what counts for those that do not take them.
protocol CommonArguments: Sendable {
    var avahi: AvahiUse { get }
    var finder: AvahiUse.Finder { get }
    var noDaemon: Bool { get }
    var socket: String? { get }
}

extension CommonArguments {
    var avahi: AvahiUse { .auto }
    var finder: AvahiUse.Finder { .auto }
    var noDaemon: Bool { false }
}

/// Whether JSON is printed, and in which version: `@Flag var json: JSONVersion?`, nil for people.
extension JSONVersion: EnumerableFlag {
    static var allCases: [Self] { [.one, .two] }

    /// `--json=2`: the parser knows no flag that has a value (`JSONWords`).
    static func name(for version: Self) -> NameSpecification {
        .customLong(version == .one ? "json" : "json-2")
    }

    static func help(for version: Self) -> ArgumentHelp? {
        version == .one ? "Print one JSON object a line; --json=2 in version 2." : .hidden
    }
}

/// What is written, and how much. A group of each command, and not of another group: not optimized, the parser would look at each of these 36 times.
struct OutputOptions: ParsableArguments {
    @Flag(exclusivity: .chooseLast)
    var json: JSONVersion?

    @Flag(name: .shortAndLong, help: "Say more on standard error.")
    var verbose = false

    @Flag(name: .shortAndLong, help: "Say nothing on standard error but errors.")
    var quiet = false

    /// Writes to standard error, at this level.
    var notices: ProgramNotices { ProgramNotices(level: verbose ? .verbose : quiet ? .quiet : .normal) }

    func validate() throws {
        if verbose && quiet { throw ValidationError("--verbose and --quiet exclude each other.") }
    }
}

/// Options of commands that need the daemon, which publishes for them.
struct DaemonOptions: ParsableArguments, CommonArguments {
    static let socket = ArgumentHelp("The daemon's control socket; 'none' does without a daemon.", valueName: "path")

    @Option(name: .long, help: socket)
    var socket: String?
}

/// Options of every command that uses the network.
struct CommonOptions: ParsableArguments, CommonArguments {
    @Option(name: .customLong("avahi"), help: AvahiOptions.help)
    var saidOfAvahi: AvahiUse?

    @Option(name: .customLong("backend"), help: .hidden, transform: AvahiOptions.backend)
    var oldOfAvahi: AvahiUse?

    var publishing: AvahiOptions { AvahiOptions(said: saidOfAvahi, old: oldOfAvahi) }

    /// For tests, and for who looks for a fault.
    @Option(name: .long, help: .hidden)
    var finder = AvahiUse.Finder.auto

    @Flag(name: .customLong("no-daemon"), help: .hidden)
    var isAlone = false

    @Option(name: .customLong("socket"), help: DaemonOptions.socket)
    var daemonSocket: String?

    /// No daemon is asked, even if one runs.
    var noDaemon: Bool { isAlone || daemonSocket == "none" }
    var socket: String? { daemonSocket == "none" ? nil : daemonSocket }
    var avahi: AvahiUse { publishing.use }

    func validate() throws {
        try publishing.validate()
        if isAlone && daemonSocket != nil { throw ValidationError("--no-daemon and --socket exclude each other.") }
    }
}

/// Of a command that only ever asks the links and DNS servers itself.
struct NoOptions: CommonArguments {
    var socket: String? { nil }
}

/// How long to ask.
struct LookupTime: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp("Give up after this time; default: 5.", valueName: "seconds"),
        transform: Parsing.seconds)
    var timeout: Duration = .seconds(5)
}
#endif
