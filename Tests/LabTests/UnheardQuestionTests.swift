import Foundation
import Testing

/// Questions to the group that no one who could answer has heard, or could read: they are not asked in our place (RFC 6762 §7.3), and that
/// nobody answers them says nothing (§10.5).
@Suite("questions that are heard by one host alone", .labSlot)
struct UnheardQuestionTests {
    private static let type = "_unheard._tcp"

    /// A service on h1, a listener without avahi-daemon on h2, and on h3 one who asks.
    private func start(_ way: String, rate: Int) async throws -> (lab: Lab, processes: [LabProcess]) {
        let lab = try await Lab.start(hosts: 3, "--no-avahi", "h2")
        let publisher = try await lab.avahiPublish("h1", "tony", Self.type, "9000")
        let link = try await lab.run("h2", "ip", "-o", "link", "show", "eth0").joined()
        let mac = try #require(link.firstMatch(of: /link\/ether ([0-9a-f:]+)/)?.output.1)
        let asker = try lab.python("h3", "unheard.py", way, String(mac), Self.type, "\(rate)")
        try await asker.line { $0 == "ready" }
        return (lab, [publisher, asker])
    }

    @Test("a list has what is there", arguments: ["mac", "unreadable"])
    func list(way: String) async throws {
        let (lab, processes) = try await start(way, rate: 20)
        for _ in 0..<3 {
            let run = try await lab.ask("h2", "browse", Self.type, "-t", "--json", "--no-daemon", "--finder", "wire")
            #expect(run.exit == .exited(0), "\(run.output) \(run.errors)")
            #expect(try run.lines().compactMap(\.service?.name) == ["tony"])
        }
        let gone = try await lab.ask(
            "h2", "wait", Self.type, "--gone", "--timeout", "5", "--no-daemon", "--finder", "wire")
        #expect(gone.exit != .exited(0), "\(gone)")
        for process in processes { process.signal(SIGTERM) }
        try await lab.stop()
    }

    @Test("what is known stays", .labLong, arguments: ["mac", "unreadable"])
    func known(way: String) async throws {
        let (lab, processes) = try await start(way, rate: 2)
        var browser = BrowseLog(
            try lab.discoverd("h2", "browse", Self.type, "--json", "--no-daemon", "--finder", "wire"))
        try await browser.wait(for: "the service", within: .seconds(10)) { $0.names == ["tony"] }
        // Two questions without an answer, and the 10 s of RFC 6762 §10.5; an end is told 3 s later.
        try await Task.sleep(for: .seconds(18))
        try browser.catchUp()
        #expect(browser.count("removed") == 0)
        for process in processes { process.signal(SIGTERM) }
        try await lab.stop()
    }

    @Test("that there is nothing is not known where many ask and no one answers anyone")
    func unanswered() async throws {
        let (lab, processes) = try await start("unreadable", rate: 20)
        let daemon = try await LabDaemon.start(on: "h2", of: lab, "backend: system\n")
        for process in processes { process.signal(SIGTERM) }
        for kind in ["_nobody._tcp", "_services._dns-sd._udp"] {
            let asker = try lab.python("h3", "unheard.py", "unreadable", "-", kind, "20")
            try await asker.line { $0 == "ready" }
            let isType = kind == "_nobody._tcp"
            let list = try await lab.toEnd(
                "h2",
                [Built.discoverd] + (isType ? ["browse", kind, "-t"] : ["types"]) + ["--json", "--no-daemon"],
                within: .seconds(15))
            #expect(try list.lines().map(\.event) == ["degraded", "settled"], "\(list)")
            if isType {
                let lines = try await daemon.curl("/v1/services?type=\(kind)&format=lines").text
                #expect(lines.hasPrefix(#"{"v":1,"event":"degraded""#), "\(lines)")
                let gone = try await lab.ask("h2", "wait", kind, "--gone", "--timeout", "10", "--no-daemon")
                #expect(gone.exit == .exited(1) && gone.failure?.contains("it is not known") == true, "\(gone)")
            }
            asker.signal(SIGTERM)
        }
        try await daemon.stop()
        // Programs of one machine are a crowd as well.
        let lists = try (0..<8).map { _ in
            try lab.discoverd("h2", "browse", "_crowd._tcp", "-t", "--json", "--no-daemon", "--finder", "wire")
        }
        for list in lists {
            #expect(try await list.exit(within: .seconds(15)) == .exited(1))
            #expect(try list.lines().map { try Line($0).event } == ["degraded", "settled"], "\(list.lines())")
        }
        try await lab.stop()
    }
}
