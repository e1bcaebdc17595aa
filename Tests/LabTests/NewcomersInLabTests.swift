import Foundation
import Testing

/// Who connects to `listen --tls` or `pair`, and proves nothing, keeps nobody out.
@Suite("connections that prove nothing", .labSlot)
struct NewcomersInLabTests {
    private static let tony = "tony._witap._tcp.local"

    /// A listener on h1, which knows h2 and is known to it.
    private func listener(_ lab: Lab, _ options: String) async throws -> (LabProcess, port: Int) {
        try await lab.run("h1", Built.discoverd, "known", "add", "@h2", lab.key("h2"))
        try await lab.run("h2", Built.discoverd, "known", "add", Self.tony, lab.key("h1"))
        let command = "exec \(Built.discoverd) listen tony --tls \(options) </dev/null"
        let server = try lab.exec("h1", "/bin/bash", "-c", command)
        try await server.line(options.isEmpty ? .stderr : .stdout, "published") { $0.contains("published ") }
        let resolved = try await lab.ask("h2", "resolve", "tony", "_witap._tcp", "--json")
        return (server, try #require(try resolved.services().first?.port))
    }

    /// - Parameter addresses: how many the connections come from; nil: h3's own.
    private func occupy(_ lab: Lab, _ port: Int, _ count: Int, from addresses: Int? = nil) async throws -> LabProcess {
        for number in 0..<(addresses ?? 0) {
            let added = try await lab.bash("h3", "ip address add 10.77.0.\(100 + number)/24 dev eth0")
            #expect(added.exit == .exited(0), "\(added)")
        }
        let source = addresses.map { ["10.77.0.100", "\($0)"] } ?? []
        let process = try lab.python("h3", "newcomers.py", ["10.77.0.1", "\(port)", "\(count)"] + source)
        try await process.line(.stdout, "ready") { $0 == "ready" }
        return process
    }

    private func say(_ lab: Lab) async throws -> Lab.Run {
        try await lab.bash(
            "h2", "printf 'hello\\n' | setsid -w $discoverd connect tony --tls --timeout 20", within: .seconds(30))
    }

    @Test(
        "connections of one byte, from one address or as many as there are places, which come again at once: who is known is let in",
        .labAlone,
        arguments: Everything.of([(64, nil), (400, nil), (64, 64), (400, 64)], inAChange: [(400, nil)])
            as [(Int, Int?)])
    func occupied(_ count: Int, _ addresses: Int?) async throws {
        let lab = try await Lab.start(hosts: 3)
        let (server, port) = try await listener(lab, "-- cat")
        let strangers = try await occupy(lab, port, count, from: addresses)
        for _ in 0..<5 {
            let said = try await say(lab)
            #expect(said.exit == .exited(0) && said.output == ["hello"], "\(said)")
        }
        let memory = ProcessUsage(server.pid).peakKilobytes
        #expect(memory < 160 * 1024)
        Figures(
            scenario: "–",
            what: "`listen --tls` beside \(count) connections of one byte, of \(addresses ?? 1) addresses",
            note: "at most \(memory / 1024) MB"
        ).record()
        strangers.signal(SIGKILL)
        try await server.stop()
        try await lab.stop()
    }

    @Test("who is served leaves its place to who waits, and more than --max are not served at a time")
    func waiting() async throws {
        let lab = try await Lab.start()
        let (server, _) = try await listener(lab, "--max 1 -- cat")
        let first = try lab.discoverd("h2", "connect", "tony", "--tls")
        first.write("one\n")
        try await first.line(.stdout, "one") { $0 == "one" }
        let second = try lab.discoverd("h2", "connect", "tony", "--tls")
        second.write("two\n")
        first.write("more\n")
        try await first.line(.stdout, "more") { $0 == "more" }
        #expect(second.lines().isEmpty)
        first.closeInput()
        try await second.line(.stdout, "two") { $0 == "two" }
        second.closeInput()
        for process in [first, second] { #expect(try await process.exit() == .exited(0)) }
        try await server.stop()
        try await lab.stop()
    }

    @Test("the same of a listener for one connection", .onlyInAll)
    func once() async throws {
        let lab = try await Lab.start(hosts: 3)
        let (server, port) = try await listener(lab, "")
        let strangers = try await occupy(lab, port, 64)
        #expect(try await say(lab).exit == .exited(0))
        #expect(try await server.exit() == .exited(0))
        #expect(server.lines() == ["hello"])
        strangers.signal(SIGKILL)
        try await lab.stop()
    }

    @Test("two machines pair beside 64 connections of one byte to the one that waits", .onlyInAll)
    func pairing() async throws {
        let lab = try await Lab.start(hosts: 3)
        let one = try await TerminalScreen(lab, "h1")
        try await one.run("clear; \(Built.discoverd) pair; echo \"status=$?\"")
        try await one.shows("on the other machine: discoverd key pair h1")
        let resolved = try await lab.ask("h2", "resolve", "h1", "_discoverd-pair._tcp", "--json")
        let strangers = try await occupy(lab, try #require(try resolved.services().first?.port), 64)
        let two = try await TerminalScreen(lab, "h2")
        try await two.run("clear; \(Built.discoverd) pair h1; echo \"status=$?\"")
        for screen in [one, two] {
            try await screen.shows("a question") { $0.last?.hasSuffix("(yes/no)?") == true }
            try await screen.run("yes")
        }
        for screen in [one, two] { try await screen.shows("status=0") }
        strangers.signal(SIGKILL)
        for screen in [one, two] { try await screen.close() }
        try await lab.stop()
    }
}
