import Glibc
import Testing

/// The exit statuses of docs/contract.md, section 2.
@Suite("exit status", .labSlot, .timeLimit(.minutes(60)))
struct ExitStatusTests {
    static let lab = Task { try await Lab.start(hosts: 2, "--no-avahi", "h2") }

    /// A command line, and words that the message must have.
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
        Misuse(arguments: ["publish", String(repeating: "n", count: 64), "9000"], words: ["63 bytes", "64"]),
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
        Misuse(arguments: ["publish", "tony"], words: ["port"]),
        Misuse(arguments: ["browse"], words: ["TYPE", "--all"]),
        Misuse(arguments: ["browse", "_witap"], words: ["_witap"]),
        Misuse(arguments: ["browse", "_witap._tcp", "--all"], words: ["--all"]),
        Misuse(arguments: ["browse", "_a--b._tcp"], words: ["hyphen"]),
        Misuse(arguments: ["browse", "_123._tcp"], words: ["letter"]),
        Misuse(arguments: ["browse", "_witap._tcp", "--count", "0"], words: ["count"]),
        Misuse(arguments: ["browse", "_witap._tcp", "--timeout", "never"], words: ["seconds"]),
        Misuse(arguments: ["browse", "_witap._tcp", "--nonsense"], words: ["--nonsense"]),
        // Avahi takes no label of one letter: said at once, and by all commands alike.
        Misuse(arguments: ["browse", "_x._udp"], words: ["_x._udp", "two letters"]),
        Misuse(arguments: ["resolve", "tony", "_x._udp"], words: ["_x._udp", "two letters"]),
        Misuse(arguments: ["resolve", "tony._x._udp.local"], words: ["_x._udp", "two letters"]),
        Misuse(arguments: ["publish", "tony", "9000", "--type", "_x._udp"], words: ["_x._udp", "two letters"]),
        Misuse(arguments: ["publish", "tony", "9000", "--subtype", "_a"], words: ["_a", "two letters"]),
        Misuse(arguments: ["wait", "_x._tcp"], words: ["_x._tcp", "two letters"]),
        Misuse(arguments: ["connect", "tony", "_x._tcp"], words: ["_x._tcp", "two letters"]),
        Misuse(arguments: ["resolve", "tony", "http tcp"], words: ["http tcp"]),
        Misuse(arguments: ["wait", "_witap._sctp"], words: ["_witap._sctp"]),
        Misuse(arguments: ["frobnicate"], words: ["frobnicate"]),
        // What is wrong is said before what is missing, and what was meant if that is near.
        Misuse(arguments: ["browse", "--al"], words: ["--al'", "Did you mean '--all'?"]),
        Misuse(arguments: ["browse", "-V"], words: ["-V", "--version"]),
        Misuse(arguments: ["browse", "-az"], words: ["-z"]),
        Misuse(arguments: ["brwse", "_witap._tcp"], words: ["brwse", "Did you mean 'browse'?"]),
        Misuse(arguments: ["help", "browes"], words: ["browes", "Did you mean 'browse'?"]),
        Misuse(arguments: ["lookup", "h1"], words: ["lookup", "Did you mean 'resolve'?"]),
        Misuse(arguments: ["publish", "-foo", "9000"], words: ["-foo", "discoverd publish -- -foo"]),
        Misuse(arguments: ["ls", "--no-daemon"], words: ["--no-daemon"]),
        Misuse(arguments: ["status", "--backend", "system"], words: ["--backend"]),
    ]

    @Test("64 for usage, with a message that names the rule", arguments: misuses)
    func usage(_ misuse: Misuse) async throws {
        let lab = try await Self.lab.value
        let run = try await lab.toEnd("h1", [DiscoverdBinary.path] + misuse.arguments, within: .seconds(5))
        #expect(run.exit == .exited(64) && run.output.isEmpty)
        let message = run.errors.joined(separator: "\n")
        #expect(message.hasPrefix("discoverd: error: "), "\(message)")
        for word in misuse.words { #expect(message.lowercased().contains(word.lowercased()), "\(message)") }
        #expect(!message.contains("\u{1B}"))
    }

    @Test("1 for a service that does not answer within --timeout")
    func notFound() async throws {
        let lab = try await Self.lab.value
        let run = try await lab.ask("h1", "resolve", "nobody", "--timeout", "2")
        #expect(run.exit == .exited(1) && run.output.isEmpty)
        #expect(run.duration > .milliseconds(1900) && run.duration < .seconds(4), "\(run.duration)")
        #expect(run.failure?.contains("nobody") == true)
        let browse = try await lab.ask("h1", "browse", "_nobody._tcp", "-t")
        #expect(browse.exit == .exited(1) && browse.output.isEmpty)
        #expect(browse.errors == ["discoverd: no service of type _nobody._tcp was found"])
        let json = try await lab.ask("h1", "browse", "_nobody._tcp", "-t", "--json")
        #expect(json.exit == .exited(1) && json.output == [#"{"v":1,"event":"settled"}"#])
    }

    static let networkCommands = [
        ["browse", "_witap._tcp"], ["browse", "_witap._tcp", "-t", "-r", "--json"], ["browse", "--all"], ["types"],
        ["domains"], ["resolve", "tony"], ["publish", "tony", "9000"], ["wait", "_witap._tcp"], ["doctor"],
    ]
    static let system = ["--backend", "system"]

    @Test("69 within 3 s without avahi-daemon, saying what to do", arguments: networkCommands)
    func noAvahi(_ arguments: [String]) async throws {
        let lab = try await Self.lab.value
        let run = try await lab.toEnd("h2", [DiscoverdBinary.path] + arguments + Self.system, within: .seconds(5))
        try expectNoBackend(run, arguments, "avahi-daemon")
    }

    @Test("69 within 3 s where nothing is installed, saying what to do", arguments: networkCommands)
    func nothingInstalled(_ arguments: [String]) async throws {
        let lab = try await Self.bare.value
        let nowhere = ["/usr/bin/env", "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/run/nowhere"]
        let run = try await lab.toEnd("h1", nowhere + [DiscoverdBinary.path] + arguments, within: .seconds(5))
        try expectNoBackend(run, arguments, "dbus")
    }

    /// A lab with a host on which neither dbus-daemon nor avahi-daemon can be run any more.
    static let bare = Task {
        let lab = try await Lab.start()
        for program in ["/usr/sbin/avahi-daemon", "/usr/bin/dbus-daemon"] {
            _ = try await lab.run("h1", "mount", "--bind", "/dev/null", program)
        }
        return lab
    }

    @Test("69 within 3 s without D-Bus, saying what to do", arguments: networkCommands)
    func noBus(_ arguments: [String]) async throws {
        let lab = try await Self.lab.value
        let command = [DiscoverdBinary.path] + arguments + Self.system
        let nowhere = ["/usr/bin/env", "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/run/nowhere"]
        try expectNoBackend(try await lab.toEnd("h1", nowhere + command, within: .seconds(5)), arguments, "dbus")
    }

    private func expectNoBackend(_ run: Lab.Run, _ arguments: [String], _ package: String) throws {
        #expect(run.exit == .exited(69), "\(run.errors)")
        #expect(run.duration < .seconds(3), "\(run.duration)")
        let isDoctor = arguments == ["doctor"]
        #expect(run.output.isEmpty != isDoctor)
        let text = (isDoctor ? run.output : run.errors).joined(separator: "\n")
        #expect(text.contains("avahi-daemon") && text.contains("apt install"), "\(text)")
        if isDoctor { #expect(run.output.contains { $0.hasPrefix("fail\t") && $0.contains("apt install \(package)") }) }
    }

    @Test("a program after -- is published for as long as it runs, and gives the status")
    func program() async throws {
        let lab = try await Self.lab.value
        let browser = try lab.discoverd("h1", "browse", "_prog._tcp", "--json")
        let run = try await lab.ask("h1", "publish", "web", "8080", "--type", "_prog._tcp", "--", "sleep", "3")
        #expect(run.exit == .exited(0) && run.errors.isEmpty)
        #expect(run.duration > .seconds(3) && run.duration < .seconds(6), "\(run.duration)")
        try await browser.json("added") { $0.tells("added", "web") }
        try await browser.json("removed") { $0.tells("removed", "web") }
        try await browser.stop()
    }

    @Test(
        "the program's status, or 127 and 126 when there is none",
        arguments: [("false", 1), ("true", 0), ("/no/such/program", 127), ("/etc/passwd", 126)]
    )
    func programStatus(_ program: String, _ status: Int32) async throws {
        let lab = try await Self.lab.value
        let type = "_status\(status)._tcp"
        let run = try await lab.ask("h1", "publish", "web", "8080", "--type", type, "--", program)
        #expect(run.exit == .exited(status))
        #expect(run.errors.isEmpty == (status < 126), "\(run.errors)")
        #expect(run.errors.allSatisfy { $0.contains(program) })
    }

    @Test("signals go to the program, which decides how it ends")
    func programSignals() async throws {
        let lab = try await Self.lab.value
        let script = "trap 'exit 7' TERM; echo ready; while :; do sleep 0.05; done"
        let publisher = try lab.discoverd(
            "h1", "publish", "web", "1", "--type", "_trap._tcp", "--", "bash", "-c", script)
        try await publisher.line(.stdout, "ready") { $0 == "ready" }
        publisher.signal(SIGTERM)
        #expect(try await publisher.exit() == .exited(7))
    }
}
