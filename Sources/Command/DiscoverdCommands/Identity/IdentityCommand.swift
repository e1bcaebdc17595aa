#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import DNSSD
internal import DiscoveryJSON
internal import Libc
internal import PeerIdentity

struct IdentityCommand: LocalCommand {
    static let configuration = CommandConfiguration(
        commandName: "identity",
        abstract: "Shows this machine's key, by which others know it.",
        discussion: """
            The key is made at first use, for this user; root's is the machine's. Others take it with
            'discoverd known add NAME SHA256:…', or at their first connection to it.
            """
    )

    @Flag(name: .long, help: "Print one JSON object.")
    var json = false

    var needsMore: String? { "has the key" }

    func run(with more: (any MoreSupport)?) throws {
        guard let identity = try more?.identity() else { throw CommandError.noTLS }
        guard json else {
            let gap = isatty(STDOUT_FILENO) == 1 ? "  " : "\t"
            print("\(identity.fingerprint)\(gap)\(identity.label.escapedForTerminal)")
            print(identity.fingerprint.words.joined(separator: " "))
            return
        }
        var writer = JSONWriter()
        writer.line("identity") { object in
            object.member("fingerprint", identity.fingerprint.description)
            object.member("words", identity.fingerprint.words.joined(separator: " "))
            object.member("label", identity.label)
            object.member("path", identity.path)
        }
        print(String(decoding: writer.bytes, as: UTF8.self), terminator: "")
    }
}
#endif
