import Testing

/// The exit statuses of docs/contract/exit-status.md, that need no network; a lab would only take longer.
@Suite("exit status without a network", .labSlot)
struct BareExitStatusTests {
    /// A command line, and words that its error message must contain.
    struct Misuse: Sendable, CustomTestStringConvertible {
        var arguments: [String]
        var words: [String]
        var testDescription: String { arguments.map { String($0.prefix(40)) }.joined(separator: " ") }
    }

    static let misuses = [
        Misuse(arguments: ["publish", "tony", "0"], words: ["port", "1 to 65535"]),
        Misuse(arguments: ["publish", "tony", "70000"], words: ["port", "1 to 65535"]),
        Misuse(arguments: ["publish", "tony", "http"], words: ["port", "1 to 65535"]),
        Misuse(
            arguments: ["publish", "tony", "9000", "--type", "_this-is-much-too-long._tcp"],
            words: ["this-is-much-too-long", "15"]
        ),
        Misuse(arguments: ["publish", "tony", "9000", "--type", "http tcp"], words: ["http tcp"]),
        Misuse(arguments: ["publish", String(repeating: "n", count: 64), "9000"], words: ["at most 63", "64 bytes"]),
        Misuse(arguments: ["publish", "", "9000"], words: ["name"]),
        Misuse(arguments: ["publish", "a\u{1B}b", "9000"], words: ["control character"]),
        Misuse(
            arguments: ["publish", "tony", "9000", "--txt", "k=" + String(repeating: "v", count: 298)],
            words: ["255", "300"]
        ),
        Misuse(arguments: ["publish", "tony", "9000", "--txt", "=v"], words: ["key"]),
        Misuse(arguments: ["publish", "tony", "9000", "--txt-base64", "k=*"], words: ["base64"]),
        Misuse(arguments: ["publish", "tony", "9000", "--subtype", String(repeating: "s", count: 64)], words: ["63"]),
        Misuse(arguments: ["publish", "tony", "9000", "-4", "-6"], words: ["-4", "-6"]),
        Misuse(arguments: ["publish", "tony", "9000", "--address", "10.0.0.9"], words: ["--host"]),
        Misuse(arguments: ["publish", "tony", "9000", "--host", "a..b"], words: ["a..b"]),
        Misuse(arguments: ["publish", "tony", "9000", "--host", "a.local", "--check", "tcp"], words: ["this machine"]),
        Misuse(
            arguments: ["publish", "tony", "9000", "--host", "www.example.org", "--address", "10.0.0.9"],
            words: ["www.example.org", "local"]
        ),
        Misuse(
            arguments: ["publish", "tony", "9000", "--host", "a.local", "--address", "127.0.0.1"], words: ["127.0.0.1"]
        ),
        Misuse(arguments: ["publish", "tony"], words: ["port"]),
        Misuse(arguments: ["publish", "tony", "10.0.0.9"], words: ["10.0.0.9", "publish tony.local"]),
        Misuse(arguments: ["publish", "--address-record", "a.local", "9000"], words: ["9000", "address"]),
        Misuse(arguments: ["publish", "--address-record", "a.local", "127.0.0.1"], words: ["127.0.0.1"]),
        Misuse(
            arguments: ["publish", "--address-record", "a.local", "10.0.0.9", "--type", "_x._tcp"], words: ["--type"]),
        Misuse(arguments: ["browse"], words: ["TYPE", "--all"]),
        Misuse(arguments: ["browse", "_witap"], words: ["_witap"]),
        Misuse(arguments: ["browse", "_witap._tcp", "--all"], words: ["--all"]),
        Misuse(arguments: ["publish", "tony", "80", "--type", "_a--b._tcp"], words: ["hyphen"]),
        Misuse(arguments: ["publish", "tony", "80", "--type", "_123._tcp"], words: ["letter"]),
        Misuse(arguments: ["browse", "_witap._tcp", "--count", "0"], words: ["count"]),
        Misuse(arguments: ["browse", "_witap._tcp", "--timeout", "never"], words: ["seconds"]),
        Misuse(arguments: ["browse", "_witap._tcp", "--nonsense"], words: ["--nonsense"]),
        // Avahi publishes no label of a single letter.
        Misuse(arguments: ["publish", "tony", "9000", "--type", "_x._udp"], words: ["_x._udp", "two letters"]),
        Misuse(arguments: ["publish", "tony", "9000", "--subtype", "_a"], words: ["_a", "two letters"]),
        Misuse(arguments: ["resolve", "tony", "http tcp"], words: ["http tcp"]),
        Misuse(arguments: ["wait", "_witap._sctp"], words: ["_witap._sctp"]),
        Misuse(arguments: ["frobnicate"], words: ["frobnicate"]),
        // What is wrong is reported before what is missing, with a suggestion if one is near.
        Misuse(arguments: ["browse", "--al"], words: ["--al'", "Did you mean '--all'?"]),
        Misuse(arguments: ["browse", "-V"], words: ["-V", "--version"]),
        Misuse(arguments: ["browse", "-az"], words: ["-z"]),
        Misuse(arguments: ["brwse", "_witap._tcp"], words: ["brwse", "Did you mean 'browse'?"]),
        Misuse(arguments: ["help", "browes"], words: ["browes", "Did you mean 'browse'?"]),
        Misuse(arguments: ["lookup", "h1"], words: ["lookup", "Did you mean 'resolve'?"]),
        Misuse(arguments: ["publish", "-foo", "9000"], words: ["-foo", "discoverd publish -- -foo"]),
        Misuse(arguments: ["ls", "--no-daemon"], words: ["--no-daemon"]),
        Misuse(arguments: ["status", "--avahi", "always"], words: ["unknown option '--avahi'"]),
        Misuse(arguments: ["daemon", "--chek"], words: ["unknown option '--chek'", "--check"]),
        Misuse(arguments: ["key"], words: ["'key' needs one more word", "pair", "discoverd key --help"]),
        Misuse(arguments: ["setup", "zone", "bind"], words: ["--domain <domain> is missing", "--address"]),
    ]

    @Test("64 for usage, with a message that names the rule", arguments: misuses)
    func usage(_ misuse: Misuse) async throws {
        let run = try await BareHost.discoverd(misuse.arguments, within: .seconds(30))
        #expect(run.exit == .exited(64) && run.output.isEmpty)
        let message = run.errors.joined(separator: "\n")
        #expect(message.hasPrefix("discoverd: error: "), "\(message)")
        for word in misuse.words { #expect(message.lowercased().contains(word.lowercased()), "\(message)") }
        #expect(!message.contains("\u{1B}"))
    }

    private static let commands = ExitStatusTests.networkCommands

    @Test(
        "69 where nothing is installed, saying what to do, for what asks avahi-daemon",
        arguments: commands.filter { $0.contains("--finder") })
    func nothingInstalled(_ arguments: [String]) async throws {
        let run = try await BareHost.discoverd(
            arguments, without: ["/usr/sbin/avahi-daemon", "/usr/bin/dbus-daemon"], within: .seconds(30))
        try ExitStatusTests.expectNoBackend(run, arguments, "avahi-daemon")
    }

    @Test("69 without D-Bus, saying what to do", arguments: commands)
    func noBus(_ arguments: [String]) async throws {
        let run = try await BareHost.discoverd(arguments + ExitStatusTests.system, within: .seconds(30))
        try ExitStatusTests.expectNoBackend(run, arguments, "dbus")
    }
}
