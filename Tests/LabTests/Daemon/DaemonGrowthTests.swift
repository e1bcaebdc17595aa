import Foundation
import Testing

/// What a client asks for again and again is not kept.
@Suite("The daemon's memory", .labSlot)
struct DaemonGrowthTests {
    @Test(
        "Many requests on one connection that stays open", .labLong,
        arguments: Everything.of([50_000], inAChange: [10_000]))
    func keptConnection(count: Int) async throws {
        let lab = try await Lab.start(hosts: 1)
        let daemon = try await LabDaemon.start(on: "h1", of: lab)
        let pid = try daemon.process.pid
        // What is allocated once has been by then.
        let first = try await keep(1_000, lab)
        let before = ProcessUsage(pid)
        let second = try await keep(count, lab)
        let after = ProcessUsage(pid)
        #expect(after.kilobytes < before.kilobytes + 4_096, "\(before.kilobytes) → \(after.kilobytes) kB")
        Figures(
            scenario: "–", what: "\(count) requests on one connection",
            note: "daemon \(before.kilobytes) → \(after.kilobytes) kB"
        ).record()
        for client in [first, second] { client.signal(SIGKILL) }
        try await daemon.stop()
        try await lab.stop()
    }

    /// - Returns: the client, when all is answered; it keeps its connection.
    private func keep(_ count: Int, _ lab: Lab) async throws -> LabProcess {
        let client = try lab.exec(
            "h1",
            [
                "/usr/bin/python3", "\(Lab.scripts)/hostile_clients.py", LabDaemon.systemSocket, "keep", "\(count)",
                "/v1/ping",
            ])
        try await client.line(within: .seconds(120), "all answers") { $0 == "done" }
        return client
    }
}
