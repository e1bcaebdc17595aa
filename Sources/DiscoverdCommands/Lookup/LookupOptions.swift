#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import HostEngine

/// Options of commands that ask the links themselves: for them there is no daemon and no backend.
struct LookupOptions: ParsableArguments, CommonArguments {
    @Flag(name: .long, help: "Print one JSON object a line.")
    var json = false

    @Flag(name: .shortAndLong, help: "Say more on standard error.")
    var verbose = false

    @Flag(name: .shortAndLong, help: "Say nothing on standard error but errors.")
    var quiet = false

    var backend: BackendChoice { .system }
    var finder: FinderChoice { .auto }
    var noDaemon: Bool { true }
    var socket: String? { nil }

    func validate() throws {
        if verbose && quiet { throw ValidationError("--verbose and --quiet exclude each other.") }
    }
}

/// How long to ask.
struct LookupTime: ParsableArguments {
    @Option(
        name: [.customShort("t"), .customLong("timeout")],
        help: ArgumentHelp("Give up after this time; default: 5.", valueName: "seconds"),
        transform: Parsing.seconds)
    var limit: Duration = .seconds(5)
}
#endif
