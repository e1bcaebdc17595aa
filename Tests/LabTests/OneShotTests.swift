import Foundation
import Testing

/// One-shot questions to responders that others wrote (docs/decisions/0036-one-shot-questions.md).
@Suite("one-shot questions", .labSlot)
struct OneShotTests {
    private static let resolve = ["resolve", "tony", "_witap._tcp", "--json", "--no-daemon", "--finder", "wire"]
    /// Far less than the second for which a responder is silent, even on a busy machine.
    private static let prompt = Duration.milliseconds(600)

    private func ask(_ lab: Lab) async throws -> Lab.Run {
        try await lab.toEnd("h2", [Built.discoverd] + Self.resolve, within: .seconds(15))
    }

    /// A responder has just answered, there is no avahi-daemon that has heard it, and another process asks.
    private func answersTwice(_ lab: Lab) async throws {
        var times: [Duration] = []
        for _ in 0..<3 {
            let first = try await ask(lab)
            #expect(first.exit == .exited(0), "\(first.errors)")
            let again = try await ask(lab)
            #expect(again.exit == .exited(0), "\(again.errors)")
            #expect(try again.services().first?.port == 9000)
            times.append(again.duration)
            if again.duration < Self.prompt { break }
        }
        #expect(times.contains { $0 < Self.prompt }, "\(times)")
    }

    @Test("avahi-daemon: asked again in its second of silence")
    func avahi() async throws {
        let lab = try await Lab.start("--no-avahi", "h2")
        let publisher = try await lab.avahiPublish("h1", "tony", "_witap._tcp", "9000", "path=/x")
        try await answersTwice(lab)
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
