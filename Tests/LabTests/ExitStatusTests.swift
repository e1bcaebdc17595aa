import Glibc
import Testing

/// The exit statuses of docs/contract/exit-status.md.
@Suite("exit status", .labSlot)
struct ExitStatusTests {
    static let lab = Task { try await Lab.start(hosts: 2, "--no-avahi", "h2") }

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

    /// Those that find ask the links themselves unless told otherwise.
    static let networkCommands =
        [
            ["browse", "_witap._tcp"], ["browse", "_witap._tcp", "-t", "-r", "--json"], ["browse", "--all"], ["types"],
            ["domains"], ["resolve", "tony"], ["wait", "_witap._tcp"],
        ].map { $0 + ["--finder", "avahi"] } + [["publish", "tony", "9000"], ["doctor"]]
    static let system = ["--avahi", "always"]

    @Test("69 without avahi-daemon, saying what to do", arguments: networkCommands)
    func noAvahi(_ arguments: [String]) async throws {
        let lab = try await Self.lab.value
        let run = try await lab.toEnd("h2", [Built.discoverd] + arguments + Self.system, within: .seconds(10))
        try Self.expectNoBackend(run, arguments, "avahi-daemon")
        // Less than what a list has.
        #expect(run.duration < .milliseconds(4500), "\(run.duration)")
    }

    @Test("what finds does without avahi-daemon: 0 where the service is there, 1 where it is not")
    func foundWithoutAvahi() async throws {
        let lab = try await Self.lab.value
        let publisher = try await lab.publish("h1", "tony", "9000", "--type", "_without._tcp")
        for arguments in [["browse", "_without._tcp", "-t", "-r"], ["resolve", "tony", "_without._tcp"], ["types"]] {
            let run = try await lab.toEnd("h2", [Built.discoverd] + arguments, within: .seconds(10))
            #expect(run.exit == .exited(0) && run.errors.isEmpty, "\(run.errors)")
            #expect(run.output.contains { $0.contains("_without._tcp") }, "\(run.output)")
        }
        let wait = try await lab.ask("h2", "wait", "_without._tcp", "--timeout", "5")
        #expect(wait.exit == .exited(0), "\(wait.errors)")
        #expect(try await lab.ask("h2", "browse", "_nobody._tcp", "-t").exit == .exited(1))
        try await publisher.stop()
    }

    static func expectNoBackend(_ run: Lab.Run, _ arguments: [String], _ package: String) throws {
        #expect(run.exit == .exited(69), "\(run.errors)")
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
        // What cannot be started is published for nobody.
        #expect(run.output.contains { $0.hasPrefix("published") } == (status < 126), "\(run.output)")
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
