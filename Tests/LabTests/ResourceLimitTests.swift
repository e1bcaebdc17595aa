import Foundation
import Testing

/// A system that refuses: no /proc, few descriptors, little address space.
@Suite("What the system refuses", .labSlot)
struct ResourceLimitTests {
    private static let programs = Everything.of(all, inAChange: Array(all.prefix(3)))
    private static let all = [
        "discoverd browse _witap._tcp -t --no-daemon", "discoverd listen files --interface eth0 --no-daemon",
        "discoverd-daemon --socket /run/lab/limits/control.sock --state /run/lab/limits/state", "stream-hello browse",
        "filedrop receive /run",
    ]

    private func command(_ program: String) -> [String] {
        let words = program.split(separator: " ").map(String.init)
        return ["/usr/bin/env", "XDG_STATE_HOME=/run/lab/limits", Built.program(words[0])] + words.dropFirst() + [
            "--avahi", "always",
        ]
    }

    @Test("without /proc: 71, and the reason", arguments: programs)
    func withoutProc(_ program: String) async throws {
        let lab = try await Lab.start(hosts: 1)
        let run = try await lab.toEnd(
            "h1",
            ["unshare", "--mount", "bash", "-c", "mount -t tmpfs none /proc; exec \"$@\"", "bash"] + command(program),
            within: .seconds(15))
        #expect(run.exit == .exited(71), "\(run)")
        #expect(run.output.isEmpty && run.errors.count == 1 && run.errors[0].contains("/proc"), "\(run)")
        try await lab.stop()
    }

    @Test(
        "few descriptors, little address space: it works, or it is status 71 with the limit, at once",
        arguments: programs)
    func limits(_ program: String) async throws {
        let lab = try await Lab.start(hosts: 4)
        let publisher = try await lab.avahiPublish("h1", "tony", "_witap._tcp", "9000")
        // From too few even for the dynamic linker, whose status is 127, to plenty.
        let descriptors = Everything.of(
            [4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 24, 32], inAChange: [4, 6, 7, 8, 10, 16, 24])
        let spaces = Everything.of(
            [
                40_000, 45_000, 50_000, 55_000, 60_000, 65_000, 70_000, 80_000, 90_000, 100_000, 120_000, 140_000,
                160_000, 180_000, 200_000, 250_000, 300_000, 400_000,
            ], inAChange: [50_000, 60_000, 70_000, 80_000, 100_000, 120_000, 160_000, 250_000])
        let limits = descriptors.map { "-n \($0)" } + spaces.map { "-v \($0)" }
        // Runs that succeed continue until they are ended after 5 s, so each host gets a quarter.
        let refusals = try await withThrowingTaskGroup(of: Int.self) { group in
            for host in 0..<4 {
                let some = limits.indices.filter { $0 % 4 == host }.map { limits[$0] }
                group.addTask { try await self.refusals(of: program, with: some, on: "h\(host + 1)", of: lab) }
            }
            return try await group.reduce(0, +)
        }
        #expect(refusals > (Everything.isAsked ? 6 : 3))
        let plenty = try await lab.toEnd(
            "h1", ["timeout", "5", "bash", "-c", "ulimit -n 64; exec \"$@\"", "bash"] + command(program),
            within: .seconds(15))
        #expect(plenty.exit != .exited(71), "\(plenty)")
        publisher.signal(SIGTERM)
        try await lab.stop()
    }

    /// - Returns: the number of limits with which it refused to run.
    private func refusals(of program: String, with limits: [String], on host: String, of lab: Lab) async throws -> Int {
        var refusals = 0
        let name = String(program.prefix { $0 != " " })
        let ends = program.contains("browse")
        for limit in limits {
            let script = "ulimit -c 0; ulimit \(limit) || exit 99; exec \"$@\""
            let run = try await lab.toEnd(
                host, ["timeout", "-k", "5", "5", "bash", "-c", script, "bash"] + command(program), within: .seconds(15)
            )
            let text = "\(program) \(limit): \(run)"
            switch run.exit {
            case .exited(71):
                refusals += 1
                #expect(run.errors.count == 1 && run.errors[0].hasPrefix("\(name): error: "), "\(text)")
                #expect(run.errors[0].contains("ulimit \(limit.prefix(2))"), "\(text)")
                #expect(run.duration < .seconds(4), "\(text)")
            case .exited(127): #expect(limit.hasPrefix("-v") || limit == "-n 4", "\(text)")
            // It does its job: it finds the service.
            case .exited(0): #expect(ends && run.output.contains { $0.contains("tony") }, "\(text)")
            // Ended by SIGTERM, so it does not hang: it serves.
            case .exited(124):
                let serves = (run.output + run.errors).contains {
                    $0.contains("serving") || $0.contains(".local port ")
                }
                #expect(name == "stream-hello" || !ends && serves, "\(text)")
            default: Issue.record("\(text)")
            }
        }
        return refusals
    }
}
