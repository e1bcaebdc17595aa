#if Commands
import DiscoverdCommands

/// The commands for services of any domain; `discoverd` becomes this program where a command needs it.
@main
enum DiscoverdDNS {
    static func main() { DiscoverdProgram.main(with: More()) }
}
#else
import CommandFrame

/// The program that a bare `swift build` makes.
@main
enum DiscoverdDNS {
    static func main() { BareBuild.end("discoverd-dns") }
}
#endif
