import Foundation
import Testing

/// What the daemon answers from a type that it keeps warm.
@Suite("a warm type", .labSlot, .timeLimit(.minutes(60)))
struct WarmTests {
    @Test("a name that it does not have is answered at once; one that comes later is found all the same")
    func unknownName() async throws {
        let lab = try await Lab.start()
        let daemon = try await LabDaemon.start(on: "h2", of: lab, "browse: [_warm._tcp]\n")
        let publisher = try await lab.publish("h1", "tony", "9000", "--type", "_warm._tcp")
        _ = try await daemon.curl("/v1/services?type=_warm._tcp") { $0.text.contains("tony") }
        let start = ContinuousClock.now
        let none = try await daemon.curl("/v1/services?type=_warm._tcp&name=nobody")
        let passed = ContinuousClock.now - start
        #expect(try none.objects("services").isEmpty)
        // A query for the name alone would have had its 5 s.
        #expect(passed < .seconds(2), "\(passed)")
        #expect(try await daemon.curl("/v1/services?type=_warm._tcp&name=tony").objects("services").count == 1)

        let waiting = try lab.discoverd("h2", "resolve", "late", "_warm._tcp", "--timeout", "20")
        let late = try await lab.publish("h1", "late", "9000", "--type", "_warm._tcp")
        #expect(try await waiting.exit(within: .seconds(25)) == .exited(0), "\(waiting.lines(.stderr))")
        for process in [publisher, late] { try await process.stop() }
        try await daemon.stop()
        try await lab.stop()
    }
}
