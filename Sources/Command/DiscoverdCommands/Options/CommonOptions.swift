#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import DiscoveryJSON
internal import DiscoverySystem
internal import HostEngine

/// Options that every command takes, and what counts for those that do not take them.
protocol CommonArguments: Sendable {
    var output: OutputOptions { get }
    var avahi: AvahiUse { get }
    var finder: FinderChoice { get }
    var noDaemon: Bool { get }
    var socket: String? { get }
}

extension CommonArguments {
    var avahi: AvahiUse { .auto }
    var finder: FinderChoice { .auto }
    var noDaemon: Bool { false }

    /// Writes to standard error, at the level the options ask for.
    var notices: ProgramNotices { ProgramNotices(level: output.verbose ? .verbose : output.quiet ? .quiet : .normal) }
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

/// What is written, and how much. A value: of a group within a group the parser would look at each option 36 times, not optimized.
struct OutputOptions {
    static let more: ArgumentHelp = "Say more on standard error."
    static let less: ArgumentHelp = "Say nothing on standard error but errors."

    let json: JSONVersion?
    let verbose: Bool
    let quiet: Bool

    fileprivate func validate() throws {
        if verbose && quiet { throw ValidationError("--verbose and --quiet exclude each other.") }
    }
}

/// Options of commands that need the daemon, which publishes for them.
struct DaemonOptions: ParsableArguments, CommonArguments {
    static let socket = ArgumentHelp("The daemon's control socket; 'none' does without a daemon.", valueName: "path")

    @Option(name: .long, help: socket)
    var socket: String?

    @Flag(exclusivity: .chooseLast)
    var json: JSONVersion?

    @Flag(name: .shortAndLong, help: OutputOptions.more)
    var verbose = false

    @Flag(name: .shortAndLong, help: OutputOptions.less)
    var quiet = false

    var output: OutputOptions { OutputOptions(json: json, verbose: verbose, quiet: quiet) }

    func validate() throws { try output.validate() }
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
    var finder = FinderChoice.auto

    @Flag(name: .customLong("no-daemon"), help: .hidden)
    var isAlone = false

    @Option(name: .customLong("socket"), help: DaemonOptions.socket)
    var daemonSocket: String?

    @Flag(exclusivity: .chooseLast)
    var json: JSONVersion?

    @Flag(name: .shortAndLong, help: OutputOptions.more)
    var verbose = false

    @Flag(name: .shortAndLong, help: OutputOptions.less)
    var quiet = false

    var output: OutputOptions { OutputOptions(json: json, verbose: verbose, quiet: quiet) }

    /// No daemon is asked, even if one runs.
    var noDaemon: Bool { isAlone || daemonSocket == "none" }
    var socket: String? { daemonSocket == "none" ? nil : daemonSocket }
    var avahi: AvahiUse { publishing.use }

    func validate() throws {
        try output.validate()
        try publishing.validate()
        if isAlone && daemonSocket != nil { throw ValidationError("--no-daemon and --socket exclude each other.") }
    }
}

/// What counts of these options for a command that asks the links themselves for some of what it is asked, and for which there is then no
/// daemon.
struct CommonChoice: CommonArguments {
    let output: OutputOptions
    var avahi = AvahiUse.auto
    var finder = FinderChoice.auto
    var noDaemon = false
    var socket: String?

    init(_ options: CommonOptions) {
        (output, avahi, finder) = (options.output, options.avahi, options.finder)
        (noDaemon, socket) = (options.noDaemon, options.socket)
    }

    /// Of what asks the links.
    init(asking output: OutputOptions) { (self.output, avahi, noDaemon) = (output, .always, true) }
}

/// Options of commands that ask the links themselves: for them there is no daemon.
struct LookupOptions: ParsableArguments, CommonArguments {
    @Flag(exclusivity: .chooseLast)
    var json: JSONVersion?

    @Flag(name: .shortAndLong, help: OutputOptions.more)
    var verbose = false

    @Flag(name: .shortAndLong, help: OutputOptions.less)
    var quiet = false

    var output: OutputOptions { OutputOptions(json: json, verbose: verbose, quiet: quiet) }

    var avahi: AvahiUse { .always }
    var noDaemon: Bool { true }
    var socket: String? { nil }

    func validate() throws { try output.validate() }
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
