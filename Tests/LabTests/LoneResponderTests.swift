import Foundation
import Testing

/// A responder that answers the asker alone, as hashicorp/mdns and its many users (docs/decisions/0063-whoever-answers.md).
@Suite("a responder that answers the asker alone", .labSlot)
struct LoneResponderTests {
    private func start(_ lab: Lab) async throws -> LabProcess {
        let responder = try lab.python("h1", "lone.py", "10.77.0.1", "lone", "_witap._tcp", "9000")
        try await responder.line { $0 == "ready" }
        return responder
    }

    private func ask(_ lab: Lab, _ command: String...) async throws -> Lab.Run {
        try await lab.toEnd("h2", [Built.discoverd] + command, within: .seconds(20))
    }

    @Test("it is listed, its type is, and explain says what is wrong with it")
    func listed() async throws {
        let lab = try await Lab.start("--no-avahi", "h1")
        let responder = try await start(lab)
        let listed = try await ask(lab, "browse", "_witap._tcp", "-t", "-r", "--json", "--no-daemon")
        let lone = try listed.lines().compactMap(\.service).first
        #expect(lone?.name == "lone" && lone?.endpoints?.map(\.address) == ["10.77.0.1"], "\(listed.output)")
        #expect(try listed.lines().last?.event == "settled")
        let waited = try await ask(lab, "wait", "_witap._tcp", "--name", "lone", "--timeout", "10", "--no-daemon")
        #expect(waited.exit == .exited(0), "\(waited)")
        let types = try await ask(lab, "types", "--no-daemon")
        #expect(types.output.contains { $0.contains("_witap._tcp") }, "\(types.output)")
        let explained = try await ask(lab, "explain", "lone", "_witap._tcp", "--no-connect", "--json")
        #expect(explained.exit == .exited(1))
        let text = explained.output.joined()
        #expect(text.contains(#""code":"answers-asker-alone""#) && !text.contains("no one answers"), "\(text)")
        responder.signal(SIGTERM)
        try await lab.stop()
    }

    @Test("a browse and the daemon keep it past the TTL of its records, though others ask the group in vain", .labLong)
    func kept() async throws {
        let lab = try await Lab.start("--no-avahi", "h1")
        let responder = try await start(lab)
        let daemon = try await LabDaemon.start(on: "h2", of: lab, "browse: [_witap._tcp]\n")
        let browser = try lab.discoverd("h2", "browse", "_witap._tcp", "-r", "--json", "--no-daemon")
        try await browser.json("lone") { $0.tells("added", "lone") }
        // The time is the fault: its records live for 20 s.
        for _ in 0..<6 {
            try await Task.sleep(for: .seconds(5))
            _ = try await lab.toEnd("h2", ["/usr/bin/avahi-browse", "-t", "_witap._tcp"], within: .seconds(15))
        }
        #expect(!browser.lines(.stdout).contains { $0.contains("removed") || $0.contains("unreachable") })
        let known = try await ask(lab, "browse", "_witap._tcp", "-t", "-r", "--json")
        #expect(try known.lines().compactMap(\.service).map(\.state) == ["resolved"], "\(known.output)")
        responder.signal(SIGTERM)
        try await browser.stop()
        try await daemon.stop()
        try await lab.stop()
    }
}
