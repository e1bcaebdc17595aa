import Foundation
import Testing

/// Hosts with more services of a type than an answer to a port holds are asked by themselves (docs/decisions/0096-each-host-by-itself.md).
@Suite("more than an answer to a port holds", .labSlot)
struct HostQuestionsInLabTests {
    private static let names = Lab.names(12)
    /// What one host says to the group.
    private static let toGroup = [
        "ip saddr 10.77.0.1 ip daddr 224.0.0.251 drop", "iifname eth0 udp dport 5353 ip6 daddr ff02::fb drop",
    ]

    private func published(_ lab: Lab) async throws -> PublishLog {
        var publications = try lab.publish(12, on: "h1")
        try await publications.wait(forEstablished: Self.names, within: .seconds(20))
        return publications
    }

    private func list(_ lab: Lab, on host: String = "h2") async throws -> Lab.Run {
        try await lab.ask(host, "browse", Lab.type, "-t", "--json", "--no-daemon", "--finder", "wire")
    }

    @Test("avahi-daemon answers who asks it by itself, also what it has just told the group")
    func alone() async throws {
        let lab = try await Lab.start("--no-avahi", "h2")
        _ = try await published(lab)
        let direct = "udp sport 5353 udp dport 5353 ip saddr 10.77.0.1 ip daddr 10.77.0.2 counter"
        try await lab.nft("h2", ["type filter hook input priority 0;", direct])
        // Where the machine is so busy that an answer is late, a list takes the second question in place of it.
        var isAsked = false
        for _ in 0..<10 where !isAsked {
            let run = try await list(lab)
            #expect(try Set(run.lines().compactMap(\.service?.name)) == Self.names, "\(run)")
            let rules = try await lab.bash("h2", "nft list table inet t")
            isAsked = rules.output.contains { $0.contains("counter packets") && !$0.contains("packets 0 ") }
        }
        #expect(isAsked)
        try await lab.stop()
    }

    @Test("one whose answers to the group are lost says to a port that it has the type, and is asked for the list")
    func lost() async throws {
        let lab = try await Lab.start("--no-avahi", "h2")
        _ = try await published(lab)
        try await lab.nft("h2", ["type filter hook input priority 0;"] + Self.toGroup)
        let run = try await list(lab)
        #expect(try Set(run.lines().compactMap(\.service?.name)) == Self.names, "\(run)")
        #expect(run.exit == .exited(0) && !run.output.contains { $0.contains("degraded") }, "\(run)")
        try await lab.stop()
    }

    @Test("an avahi-daemon beside it gets what is sent to its port, before and after")
    func beside() async throws {
        let lab = try await Lab.start()
        _ = try await published(lab)
        let own = try await lab.avahiPublish("h2", "own", Lab.type, "9000")
        for _ in 0..<3 {
            let run = try await list(lab)
            #expect(try Set(run.lines().compactMap(\.service?.name)) == Self.names.union(["own"]), "\(run)")
            let direct = try await lab.bash(
                "h1", "dig +short +time=1 +tries=1 @10.77.0.2 -p 5353 PTR \(Lab.type).local")
            #expect(direct.output.contains { $0.hasPrefix("own.") }, "\(direct)")
        }
        own.signal(SIGTERM)
        try await lab.stop()
    }
}
