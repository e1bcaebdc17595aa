import Testing

@testable import CommandText

@Suite("help at the width of a terminal")
struct HelpTextTests {
    static let help = """
        OVERVIEW: Connects to a service by its name; joins standard input and output to it.

        Every address of the service is dialled as RFC 8305 says; the first that answers is used. Addresses that are
        neither on the link nor private are refused, unless --allow names them.

        Examples:
          discoverd connect tony                        as nc, but by name
          discoverd connect tony --probe --report       does it answer, and at which address
        Exit status: 0 done, 1 not found.

        USAGE: discoverd connect <name> [<type>] [--domain <domain>] [--probe] [--report] [--timeout <seconds>]

        OPTIONS:
          --probe                 Connect, close, and exit: 0 when it answered, and what else there is to be said of it.
        """

    @Test("lines are filled, and none is longer than the terminal", arguments: [40, 60, 80, 100, 200])
    func widths(_ columns: Int) {
        let lines = HelpText.wrapped(Self.help, to: columns).split(separator: "\n", omittingEmptySubsequences: false)
        // A command stays whole, to be copied.
        #expect(lines.allSatisfy { $0.count <= columns || $0.hasPrefix("  discoverd ") }, "\(lines)")
        let words = { (text: String) in text.split { $0 == " " || $0 == "\n" } }
        #expect(words(lines.joined(separator: "\n")) == words(Self.help))
    }

    @Test("a command of an example is not broken: what is said of it goes below")
    func examples() {
        let lines = HelpText.wrapped(Self.help, to: 60).split(separator: "\n").map(String.init)
        #expect(lines.contains("  discoverd connect tony --probe --report"), "\(lines)")
        #expect(lines.contains("      does it answer, and at which address"), "\(lines)")
    }

    @Test("examples and options go on under their second column")
    func indentation() {
        let lines = HelpText.wrapped(Self.help, to: 80).split(separator: "\n").map(String.init)
        #expect(lines.contains("  discoverd connect tony                        as nc, but by name"))
        #expect(lines.contains(String(repeating: " ", count: 48) + "address"), "\(lines)")
        #expect(lines.contains { $0.hasPrefix(String(repeating: " ", count: 26) + "else there") }, "\(lines)")
        #expect(lines.contains("Exit status: 0 done, 1 not found."))
        // Filled only once: no short line within the paragraph.
        #expect(lines.contains { $0.hasPrefix("Every address") && $0.count > 65 })
        #expect(lines.contains { $0.hasPrefix("       ") && $0.contains("--timeout") })
    }
}

@Suite("slips of a command line")
struct CommandLineSlipTests {
    static var grammar: CommandLineSlip.Grammar {
        CommandLineSlip.Grammar(
            "discoverd", commands: ["browse", "publish", "resolve", "daemon"],
            synonyms: ["lookup": "resolve", "-V": "--version"], opaque: ["daemon"]
        ) { command in
            command == "browse"
                ? """
                OPTIONS:
                  -a, --all               Every service of every type.
                  -r, --resolve           Print host.
                  -t, --once
                  --count <n>             Exit.
                  --backend <backend>     What answers for mDNS. (values: auto, system, private; default: auto)
                  --on/--off              Whether.
                  --txt <key=value>       A TXT string.
                  -4, --ipv4              Use IPv4 only.
                """ : "  --version               Show the version."
        }
    }

    static let slips: [(String, String?)] = [
        ("browse --al", "unknown option '--al'. Did you mean '--all'?"),
        ("browse -V", "unknown option '-V'. Did you mean '--version'?"),
        ("browse --count 3 -12", "unknown option '-12'; a port, a number or a time is not below zero"),
        ("browse -z", "unknown option '-z'"),
        ("browse -arz", "unknown option '-z'"),
        ("browse -art --foo", "unknown option '--foo'"),
        ("browse --ttl 3", "unknown option '--ttl'"),
        ("browse --once=x --resolv", "unknown option '--resolv'. Did you mean '--resolve'?"),
        ("browse --count -1 --al", "unknown option '--al'. Did you mean '--all'?"),
        ("browse -a -t -4 --count 3 --txt=x --help", nil),
        ("browse -- --al", nil),
        ("brwse x", "unknown command 'brwse'. Did you mean 'browse'?"),
        ("lookup h1", "unknown command 'lookup'. Did you mean 'resolve'?"),
        ("frobnicate", "unknown command 'frobnicate'"),
        ("help browes", "unknown command 'browes'. Did you mean 'browse'?"),
        ("-t browse x", "'-t' is an option of 'browse', and stands behind it"), ("--version browse", nil),
        ("help browse", nil), ("help", nil), ("daemon --nonsense", nil), ("--version", nil), ("", nil),
    ]

    @Test("the slip, and what was perhaps meant", arguments: slips)
    func slip(_ line: String, _ message: String?) {
        let found = CommandLineSlip.find(in: line.split(separator: " ").map(String.init), Self.grammar)
        #expect(found?.message == message)
    }

    @Test(
        "distances",
        arguments: [
            ("browes", "browse", 1), ("brwse", "browse", 1), ("abc", "abc", 0), ("", "abc", 3), ("ttl", "txt", 2),
        ])
    func distance(_ one: String, _ other: String, _ distance: Int) {
        #expect(Suggestion.distance(one, other) == distance && Suggestion.distance(other, one) == distance)
    }
}

@Suite("arguments in bytes")
struct CommandLineArgumentsTests {
    static func read(_ arguments: [String]) throws -> CommandLineArguments {
        try CommandLineArguments(arguments.map(Self.bytes), runners: ["publish", "listen"])
    }

    /// `~` stands for the byte FC, which is invalid in UTF-8.
    static func bytes(_ text: String) -> [UInt8] { text.utf8.map { $0 == UInt8(ascii: "~") ? 0xFC : $0 } }

    @Test("TXT values keep their bytes")
    func txt() throws {
        let read = try Self.read(["publish", "tony", "9000", "--txt", "k=K~che", "--txt=l=~", "--txt", "m=ü"])
        #expect(read.texts.dropFirst(3) == ["--txt-base64", "k=S/xjaGU=", "--txt-base64=l=/A==", "--txt", "m=ü"])
    }

    @Test(
        "an argument that must be text is refused, and shown",
        arguments: [
            ["publish", "K~che", "9000"], ["resolve", "K~che"], ["publish", "a", "1", "--txt", "~=x"],
            ["publish", "a", "1", "--txt", "~"], ["browse", "x", "--interface", "~"], ["resolve", "x", "--txt", "k=~"],
        ])
    func refused(_ arguments: [String]) {
        #expect { try Self.read(arguments) } throws: {
            ($0 as? CommandLineArguments.NotUTF8)?.argument.contains(#"\xFC"#) == true
        }
    }

    @Test("a program keeps its arguments as they are")
    func program() throws {
        let read = try Self.read(["publish", "tony", "9000", "--", "cat", "K~che", "--", "-x"])
        #expect(read.program == ["cat", "K~che", "--", "-x"].map(Self.bytes))
        #expect(read.texts.prefix(5) == ["publish", "tony", "9000", "--", "cat"])
    }

    @Test(
        "-- may stand before any name, after options only; where a name came before, it begins the program",
        arguments: [
            (["publish", "--", "tony", "80"], ["publish", "tony", "80"], 0),
            (["publish", "--", "tony", "80", "--", "cat", "-u"], ["publish", "tony", "80", "--", "cat", "-u"], 2),
            (["publish", "--type", "x", "-4", "--", "tony", "80"], ["publish", "--type", "x", "-4", "tony", "80"], 0),
            (["listen", "-4", "tony", "--", "cat"], ["listen", "-4", "tony", "--", "cat"], 1),
            (["listen", "--type=x", "tony", "--", "-x"], ["listen", "--type=x", "tony", "--", "-x"], 1),
            (["publish", "tony", "80", "--", "-x"], ["publish", "tony", "80", "--", "-x"], 1),
            (["publish", "--"], ["publish", "--"], 0), (["-v", "--", "publish"], ["-v", "--", "publish"], 1),
        ])
    func terminator(_ arguments: [String], _ texts: [String], _ program: Int) throws {
        let read = try CommandLineArguments(arguments.map(Self.bytes), runners: ["publish", "listen"]) { _, option in
            option == "--type"
        }
        #expect(read.texts == texts && read.program.count == program)
    }

    @Test("a name that begins with a hyphen follows --, and a program the next one")
    func hyphen() throws {
        let read = try Self.read(["publish", "--type", "_http._tcp", "--", "-x", "9000", "--", "cat"])
        #expect(read.texts == ["publish", "--type", "_http._tcp", "\u{0}-x", "9000", "--", "cat"])
        #expect(read.program == [Self.bytes("cat")])
        #expect(try Self.read(["publish", "--", "_x._tcp", "80"]).texts[1] == "\u{0}_x._tcp")
        #expect(CommandLineArguments.unmarked("\u{0}-x") == "-x" && CommandLineArguments.unmarked("-x") == "-x")
        #expect(try Self.read(["publish", "--", "--", "80"]).texts == ["publish", "\u{0}--", "80"])
        // For other commands the parser takes what follows `--` as is.
        #expect(try Self.read(["resolve", "--", "-x"]).texts == ["resolve", "--", "-x"])
    }
}
