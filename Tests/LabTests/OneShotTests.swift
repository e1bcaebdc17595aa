import Foundation
import Testing

/// One-shot questions to responders that others wrote (docs/decisions/0036-one-shot-questions.md).
@Suite("one-shot questions", .labSlot)
struct OneShotTests {
    private static let resolve = ["resolve", "tony", "_witap._tcp", "--json", "--no-daemon", "--finder", "wire"]

    private func ask(_ lab: Lab) async throws -> Lab.Run {
        try await lab.toEnd("h2", [Built.discoverd] + Self.resolve, within: .seconds(15))
    }

    @Test("avahi-daemon: asked again in its second of silence, it answers the asker's port alone, and that is enough")
    func avahi() async throws {
        let lab = try await Lab.start("--no-avahi", "h2")
        let publisher = try await lab.avahiPublish("h1", "tony", "_witap._tcp", "9000", "path=/x")
        let first = try await ask(lab)
        #expect(first.exit == .exited(0), "\(first.errors)")
        // What is said to the group is heard no more.
        try await lab.firewall("h2", "udp dport 5353 drop")
        let again = try await ask(lab)
        #expect(again.exit == .exited(0), "\(again.errors)")
        #expect(try again.services().first?.port == 9000)
        publisher.signal(SIGTERM)
        try await lab.stop()
    }

    @Test("one that answers only so is heard; another ID, another source port, a source that is no neighbour are not")
    func forged() async throws {
        let lab = try await Lab.start(["--no-avahi", "h1", "--no-avahi", "h2"], environment: [:])
        try await lab.run("h1", "ip", "addr", "add", "10.99.0.9/32", "dev", "lo")
        // So that nothing but the sender's rule stands between.
        try await lab.run("h2", "ip", "route", "add", "10.99.0.9", "via", "10.77.0.1")
        let responder = try lab.python("h1", "one_shot.py")
        try await responder.line { $0 == "ready" }
        let run = try await ask(lab)
        #expect(run.exit == .exited(0), "\(run.errors)")
        let endpoints = try #require(try run.services().first?.endpoints)
        #expect(endpoints.map(\.address) == ["10.77.0.1"], "\(endpoints)")
        responder.signal(SIGTERM)
        try await lab.stop()
    }
}
