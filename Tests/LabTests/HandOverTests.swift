import Foundation
import Testing

/// avahi-daemon comes and goes on the publisher's host; avahi-browse and python-zeroconf watch on another.
@Suite("handing over to avahi-daemon and back", .labSlot)
struct HandOverTests {
    private static let count = 100

    /// Services that a watcher has seen end, and names that are not ours.
    private func flaws(_ avahi: LabProcess, _ zeroconf: LabProcess) -> [String] {
        avahi.lines().filter { $0.hasPrefix("-;") || $0.contains(#"\032\035"#) }
            + zeroconf.lines().filter { $0.contains(#""removed""#) || $0.contains("#2") }
    }

    @Test(
        "it comes and is killed: services move to it within 5 s; nobody sees an end or another name",
        arguments: [4])
    func comesAndGoes(rounds: Int) async throws {
        let lab = try await Lab.start("--no-avahi", "h1")
        let publisher = try lab.exec(
            "h1", [Built.program("PublishMany"), "\(Self.count)", "s", Lab.type, "9000"],
            environment: ["LAB_PUBLISHER": "auto"])
        for _ in 0..<Self.count {
            try await publisher.line(.stdout, within: .seconds(20), "established") { $0.contains(#""established""#) }
        }
        let avahi = try lab.exec("h2", ["stdbuf", "-oL", "avahi-browse", "-p", Lab.type])
        let zeroconf = try lab.python("h2", "zc_browse.py", Lab.type, "--seconds", "600")
        for _ in 0..<Self.count {
            try await avahi.line(.stdout, within: .seconds(20), "seen") { $0.hasPrefix("+;eth0;IPv4;") }
        }
        for _ in 0..<Self.count {
            try await zeroconf.line(.stdout, within: .seconds(60), "seen by python-zeroconf") {
                $0.contains(#""added""#)
            }
        }
        var times: [Duration] = []
        let all = Int(ProcessInfo.processInfo.environment["LAB_ROUNDS"] ?? "") ?? rounds
        for _ in 0..<all {
            let start = ContinuousClock.now
            try await lab.avahi("h1", "start")
            // What it publishes itself it has sockets for.
            let sockets = "while ss -Hulnp sport = :5353 | grep -q PublishMany; do sleep 0.02; done"
            #expect(try await lab.bash("h1", sockets, within: .seconds(30)).exit == .exited(0))
            times.append(ContinuousClock.now - start)
            // Asked to end, it says goodbye itself, and python-zeroconf believes that at once.
            try await lab.avahi("h1", "kill")
            // The announcements that follow are part of what is watched.
            try await Task.sleep(for: .seconds(2))
        }
        // Longer than a goodbye takes to be believed.
        try await Task.sleep(for: .seconds(3))
        #expect(flaws(avahi, zeroconf).isEmpty, "\(flaws(avahi, zeroconf).prefix(20))")
        #expect(times.allSatisfy { $0 < .seconds(5) }, "\(times)")
        #expect(publisher.lines().count == Self.count, "nothing is told but that they are established")
        publisher.signal(SIGTERM)
        for process in [avahi, zeroconf] { process.signal(SIGTERM) }
        try await lab.stop()
    }
}
