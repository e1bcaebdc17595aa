#if Commands
internal import ArgumentParser
internal import CommandFrame

/// Options of commands that list and exit, unless told to continue.
struct ListingOptions: ParsableArguments {
    @Flag(name: .shortAndLong, help: "Go on and print what comes (+) and goes (-).")
    var follow = false

    @Option(
        name: .long,
        help: ArgumentHelp("End after this time; default: 5 without --follow, none with it.", valueName: "seconds"),
        transform: Parsing.seconds
    )
    var timeout: Duration?
}
#endif
