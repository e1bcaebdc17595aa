#if Commands
import DiscoverdCommands

/// The commands, without what only services of other domains than `local` need.
@main
enum Discoverd {
    static func main() { DiscoverdProgram.main() }
}
#else
import CommandFrame

/// The program that a bare `swift build` makes.
@main
enum Discoverd {
    static func main() { BareBuild.end("discoverd") }
}
#endif
