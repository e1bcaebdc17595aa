#if Commands
import ArgumentParser
import CommandFrame
import CommandText
import DNSSD
import DiscoveryControl
import Testing

@testable import DiscoverdCommands

/// The words of the version before are understood, with a hint; and options of all stand before the command or behind it.
@Suite struct CommandWordsTests {
    static let rows = [
        ("explain tony _http._tcp --json", "doctor tony _http._tcp --json"),
        ("explain tony -t 3", "doctor tony --timeout 3"),
        ("explain -4t 3 -- -t", "doctor -4 --timeout 3 -- -t"), ("host h1 10.0.0.1", "resolve --host h1 10.0.0.1"),
        ("host h1 -t 0.5", "resolve --host h1 --timeout 0.5"), ("host -t=2 h1", "resolve --host --timeout=2 h1"),
        ("query h1 A -t 1", "query h1 A --timeout 1"), ("doctor tony -t 3", "doctor tony --timeout 3"),
        ("query -t 2 -4t 3 h1 A -t=4", "query --timeout 2 -4 --timeout 3 h1 A --timeout=4"),
        ("ls", "status --services"),
        ("ls --watch --json", "status --services --watch --json"), ("types", "browse --types -t"),
        ("types --json", "browse --types -t --json"), ("types -f", "browse --types"),
        ("types -4f --timeout 2", "browse --types -4 --timeout 2"), ("domains --follow", "browse --domains"),
        ("domains --only registration", "browse --domains -t --only registration"),
        ("identity --json", "key show --json"),
        ("known", "key list"), ("known --json", "key list --json"), ("known list", "key list"),
        ("known add @a k", "key add @a k"), ("known forget @a --file f", "key forget @a --file f"),
        ("known hash", "key hash"), ("pair", "key pair"), ("pair h1 --timeout 9", "key pair h1 --timeout 9"),
        ("import a.service", "setup avahi a.service"),
        ("zone-template bind --domain a.b", "setup zone bind --domain a.b"),
        ("help ls", "help status"), ("help pair", "help key pair"), ("help known add", "help key add"),
        ("help host", "help resolve"),
        ("update tony --txt a=b", "update tony --txt a=b"),
    ]

    @Test(
        "an option of the version before is parsed still, hidden, with a hint",
        arguments: CommandWords.options.keys.sorted())
    func options(_ option: String) {
        #expect(!CommandWords(["publish", "tony", "9000", option, "x"]).hints.isEmpty)
        #expect(CommandWords(["publish", "tony", "9000", "--", "x", option]).hints.isEmpty)
    }

    @Test(
        "a version of JSON that stands apart is no name, but where -- says so",
        arguments: ["publish --json 2 80", "connect --json 1", "browse http --json 2 -t"])
    func version(_ line: String) throws {
        #expect(throws: CommandError.self) { try JSONWords.parsed(line.words) }
        #expect(try JSONWords.parsed("publish --json -- 2 80".words) == "publish --json -- 2 80".words)
        #expect(try JSONWords.parsed("publish 2 80 --json=2".words) == "publish 2 80 --json-2".words)
    }

    @Test("a message begins with a small letter, whether the parser wrote it or a command")
    func beginnings() {
        let messages = ["Unexpected argument 'x'", "A service is NAME", "NAME, PORT and TYPE", "\"H\" is a host", ""]
        #expect(
            messages.map(\.uncapitalized) == [
                "unexpected argument 'x'", "a service is NAME", "NAME, PORT and TYPE", "\"H\" is a host", "",
            ])
    }

    @Test("no help shows an option of the version before")
    func hiddenOptions() {
        for command in DiscoverdCommand.commands {
            let help = command.helpMessage(columns: HelpText.unlimited)
            for option in CommandWords.options.keys {
                #expect(!help.contains("  \(option) "), "\(command): \(option)")
            }
        }
    }

    @Test("the new spellings of options")
    func spellings() throws {
        let check = try CheckOptions.check("exec:a b,c,every=0.5,fall=3")
        #expect(check.text == "exec:a b,c" && check.intervalMilliseconds == 500 && check.fall == 3 && check.rise == nil)
        #expect(try CheckOptions.check("http:/a,b=c").text == "http:/a,b=c")
        #expect(throws: (any Error).self) { try CheckOptions.check("tcp,rise=x") }
        let type = try OfferedType("_http._tcp,_printer,color")
        #expect(type.type.description == "_http._tcp" && type.subtypes.count == 2)
        #expect(throws: (any Error).self) { try OfferedType("_http._tcp,") }
        #expect(try DialledBlock("!10.0.0.0/8").isDenied && !DialledBlock("10.0.0.0/8").isDenied)
    }

    @Test("options alone are no command line")
    func noCommand() {
        #expect(LeadingOptions.areAll(["--json"]) && LeadingOptions.areAll(["--interface", "eth0", "-q"]))
        #expect(
            !LeadingOptions.areAll([]) && !LeadingOptions.areAll(["--version"])
                && !LeadingOptions.areAll(["-q", "browse"]))
    }

    @Test("what the version before said, and what it is now; a hint for each", arguments: rows)
    func old(_ row: (String, String)) {
        let words = CommandWords(row.0.split(separator: " ").map(String.init))
        #expect(words.arguments == row.1.split(separator: " ").map(String.init))
        #expect(!words.hints.isEmpty)
    }

    @Test(
        "what was said so before is said so now",
        arguments: [
            "browse _witap._tcp", "publish tony 9000", "browse http -t", "resolve tony _http._tcp", "doctor",
            "doctor --json", "status", "query h1 A", "help", "help browse", "--version", "---completion browse -- x",
            "",
            "publish host 80", "connect types", "publish tony 9000 -- explain -t 3",
        ])
    func same(_ line: String) {
        let arguments = line.split(separator: " ").map(String.init)
        let words = CommandWords(arguments)
        #expect(words.arguments == arguments && words.hints.isEmpty, "\(words)")
    }

    @Test(
        "-t is once, where a command is that by itself",
        arguments: ["query h1 A -t", "resolve tony -t", "doctor tony -t", "wait _x._tcp -t"])
    func once(_ line: String) {
        let arguments = line.split(separator: " ").map(String.init)
        let words = CommandWords(arguments)
        #expect(words.arguments == arguments.dropLast() && words.hints.isEmpty, "\(words)")
    }

    @Test(
        "an operand that an option takes is named",
        arguments: [
            ("publish web 8080 _http._tcp", "--type _http._tcp"),
            ("publish _http._tcp 80", nil), ("browse _http._tcp _ipp._tcp", nil), ("publish web 80 --json", nil),
        ])
    func misplaced(_ line: String, _ advice: String?) {
        let found = CommandLineSlip.find(in: line.split(separator: " ").map(String.init), .discoverd)
        #expect(
            advice == nil ? found == nil : found?.advice.contains(advice ?? "") == true, "\(String(describing: found))")
    }

    @Test(
        "what is missing is named at once, with an example; and a value that begins with a hyphen",
        arguments: [
            ("setup zone", "<server> and --domain <domain> are missing", "discoverd setup zone bind --domain"),
            ("setup zone bind", "--domain <domain> is missing", "--address"),
            ("publish web", "<port|address> is missing", "discoverd publish tony 9000"),
            ("publish", "<name> and <port|address> are missing", "discoverd publish tony 9000"),
            ("publish web --nmae", "unknown option '--nmae'", "--help"),
            ("forward web -4", "<[address:]port> is missing", "discoverd forward db 5432"),
            ("key add @anna", "<SHA256:base64> is missing", "discoverd key add <name>"),
            ("wait --name -nobody", "--name is followed by '-nobody'", "--name=-nobody"),
            ("wait --name --json", "--name lacks its value", "--name=VALUE"),
            ("browse --all --name", "--name lacks its value", "--name VALUE"),
            ("key fogret @a", "unknown command 'key fogret'", "'discoverd key --help'"),
        ])
    func missing(_ line: String, _ message: String, _ advice: String) {
        let found = CommandLineSlip.find(in: line.split(separator: " ").map(String.init), .discoverd)
        #expect(
            found?.message.hasPrefix(message) == true && found?.advice.contains(advice) == true,
            "\(String(describing: found))")
    }

    @Test(
        "words in the wrong order are named, with the right one",
        arguments: [
            ("connect 8080 web", "name the service alone, 'web'"),
            ("resolve web 8080", "a service says its port itself"),
            ("publish 10.0.0.9 printer.local", "'discoverd publish printer.local 10.0.0.9'"),
            ("publish 80 web", "'discoverd publish web 80'"), ("query A h2.local", "'discoverd query h2.local A'"),
            ("query h2.local NOSUCH", "is no record type to ask for"),
        ])
    func order(_ line: String, _ message: String) {
        let arguments = line.split(separator: " ").map(String.init)
        #expect(CommandLineSlip.find(in: arguments, .discoverd) == nil)
        #expect {
            _ = try DiscoverdCommand.parseAsRoot(arguments)
        } throws: { error in
            DiscoverdCommand.fullMessage(for: error).contains(message)
        }
    }

    @Test("a command that needs another word names them; a number may be a service's name")
    func incomplete() {
        #expect(throws: Never.self) { _ = try ConnectCommand.parse(["8080", "_web._tcp"]) }
        #expect(DiscoverdCommand.incompleteness(of: ["setup"])?.message.hasSuffix("avahi, zone or config") == true)
        #expect(DiscoverdCommand.incompleteness(of: ["browse"]) == nil)
        let error = CommandError.noBackend("gone").isAbout("publishes")
        #expect(error.message == "nothing publishes here: gone" && error.isAboutBackend)
    }

    @Test("old commands are in no help; a slip below a command is found")
    func hidden() throws {
        let help = DiscoverdCommand.helpMessage()
        let listed = Set(
            help.split(separator: "\n").filter { $0.hasPrefix("  ") }.compactMap { $0.split(separator: " ").first })
        for old in CommandWords.commands.keys + ["update"] { #expect(!listed.contains(Substring(old)), "\(old)") }
        #expect(DiscoverdCommand.commands.count == 16)
        let groups = ["FIND", "PUBLISH", "CONNECT", "DAEMON", "TRUST"]
        #expect(groups.allSatisfy { help.contains("\($0) SUBCOMMANDS:") })
        #expect(CommandLineSlip.find(in: ["browse", "--domains", "--only", "browsing"], .discoverd) == nil)
        #expect(
            CommandLineSlip.find(in: ["key", "fogret", "@a"], .discoverd)?.message.contains("'key forget'") == true)
        #expect(
            CommandLineSlip.find(in: ["key", "forget", "@a", "--fil", "x"], .discoverd)?.message.contains("--file")
                == true)
    }

    @Test(
        "options of all may stand before the command",
        arguments: [
            ("-q browse http", "browse http -q"), ("--json --interface eth0 status", "status --json --interface eth0"),
            ("--socket=/s publish a 1 -- cat", "publish a 1 --socket=/s -- cat"), ("-46vq types", "types -46vq"),
            ("--socket /s ls", "ls --socket /s"),
            ("--no-daemon publish -- -a 1 -- cat", "publish --no-daemon -- -a 1 -- cat"),
            // These are the root's own, or nothing's.
            ("--version", "--version"), ("-h", "-h"), ("--json", "--json"), ("--socket", "--socket"),
            ("--timeout 3 browse", "browse --timeout 3"), ("--json --help", "--json --help"),
            ("browse --json", "browse --json"),
            ("--jsonx browse", "--jsonx browse"), ("-x browse", "-x browse"),
        ])
    func leading(_ line: String, _ moved: String) {
        let bytes = { (text: String) in text.split(separator: " ").map { Array($0.utf8) } }
        #expect(LeadingOptions.moved(bytes(line)) == bytes(moved))
    }
}
#endif
