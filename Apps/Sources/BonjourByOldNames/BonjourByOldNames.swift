import DNSSD
import DiscoveryNetService
import Foundation

/// The tutorial's programs, by Foundation's old names: a server that publishes `tony._tonyipp._tcp`, a client that
/// resolves that name, one that browses, and one that follows the TXT record.
@main
enum BonjourByOldNames {
    static let type = "_tonyipp._tcp."
    static let domain = "local."

    private static let usage = """
        usage: BonjourByOldNames server [NAME [PORT]] [--no-auto-rename]
               BonjourByOldNames resolve [NAME]
               BonjourByOldNames monitor [NAME]
               BonjourByOldNames browse
        NAME is tony, and PORT 0, which takes a free one. Ctrl-C ends what does not end by itself.
        """

    @MainActor static func main() {
        var arguments = Array(CommandLine.arguments.dropFirst())
        let mayRename = !arguments.contains("--no-auto-rename")
        arguments.removeAll { $0 == "--no-auto-rename" }
        let name = arguments.dropFirst().first ?? "tony"
        let program: any Program
        switch arguments.first {
        case "server":
            guard let port = Int32(arguments.dropFirst(2).first ?? "0") else { return end(64, usage) }
            program = Server(name, port, mayRename ? [.listenForConnections] : [.listenForConnections, .noAutoRename])
        case "resolve": program = ResolvingClient(name)
        case "monitor": program = Monitor(name)
        case "browse": program = BrowsingClient()
        case "--help", "-h": return print(usage)
        default: return end(64, usage)
        }
        let signals = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .main)
            source.setEventHandler { MainActor.assumeIsolated { program.stop() } }
            source.resume()
            return source
        }
        program.start()
        withExtendedLifetime((program, signals)) { RunLoop.main.run() }
    }

    private static func end(_ status: Int32, _ text: String) {
        FileHandle.standardError.write(Data((text + "\n").utf8))
        exit(status)
    }
}

/// What one of the programs does.
@MainActor protocol Program: AnyObject {
    func start()
    /// Ctrl-C: ends cleanly.
    func stop()
}

/// Prints a line at once; everything of the network in it is escaped by whoever makes it.
func say(_ line: String) {
    print(line)
    fflush(nil)
}

/// The sentence for an error dictionary.
func sentence(_ dictionary: [String: NSNumber], _ failure: DiscoveryError?) -> String {
    let code = dictionary[NetService.errorCode]?.intValue ?? 0
    return "error \(code)" + (failure.map { ": \($0.message)" } ?? "")
}
