import Glibc
import Testing

/// What `doctor` says of links on which multicast DNS does not pass.
@Suite("doctor: links", .labSlot)
struct DoctorLinkTests {
    private func line(_ check: String, _ run: Lab.Run) -> String {
        run.output.first { $0.split(separator: "\t").dropFirst().first == check[...] } ?? "no line"
    }

    @Test(
        "this machine's firewall is a failure, whichever way it drops; another's is not; without one all is well",
        .labLong)
    func firewalls() async throws {
        let lab = try await Lab.start()
        let publisher = try await lab.avahiPublish("h1", "tony", "_http._tcp", "9000")
        let clean = try await lab.ask("h2", "doctor", within: .seconds(20))
        #expect(clean.exit == .exited(0), "\(clean)")
        #expect(line("link", clean).hasPrefix("ok\tlink\teth0: 1 other host over IPv4"), "\(clean)")
        let input = "type filter hook input priority 0;"
        let output = "type filter hook output priority 0;"
        for (rules, text) in [
            ([input, "udp dport 5353 drop", "udp sport 5353 drop"], "a firewall of this machine drops it"),
            ([input, "udp dport 5353 drop"], "a firewall of this machine drops it"),
            (
                [input, "ct state established,related accept", "iif lo accept", "drop"],
                "a firewall of this machine drops it"
            ),
            ([input, "meta nfproto ipv6 udp dport 5353 drop"], "over IPv6 comes in"),
            (
                [output, "udp dport 5353 drop", "udp sport 5353 drop"],
                "sends no multicast over IPv4: Operation not permitted"
            ),
        ] {
            try await lab.nft("h2", rules)
            let run = try await lab.ask("h2", "doctor", within: .seconds(20))
            #expect(run.exit == .exited(1), "\(rules): \(run)")
            #expect(line("link", run).hasPrefix("fail\tlink\teth0: "), "\(rules): \(run)")
            #expect(line("link", run).contains(text), "\(rules): \(run)")
            #expect(!run.output.contains { $0.hasPrefix("ok\t") && $0.contains("services are found") }, "\(run)")
        }
        try await lab.nft("h2", [input, "udp sport 5353 udp dport != 5353 drop"])
        let direct = try await lab.ask("h2", "doctor", within: .seconds(20))
        #expect(line("link", direct).contains("no answer to another port"), "\(direct)")
        try await lab.run("h2", "nft", "flush", "ruleset")
        try await lab.nft("h1", [output, "udp sport 5353 drop"])
        let other = try await lab.ask("h2", "doctor", within: .seconds(20))
        #expect(line("link", other).hasPrefix("warn\tlink\teth0: no other host was heard"), "\(other)")
        #expect(other.exit == .exited(0), "\(other)")
        publisher.signal(SIGTERM)
        try await lab.stop()
    }

    @Test("a machine alone on its link, and one without an avahi-daemon: a warning, and nothing is said to be found")
    func alone() async throws {
        let lab = try await Lab.start("--no-avahi", "h1", "--no-avahi", "h2")
        let run = try await lab.ask("h2", "doctor", within: .seconds(20))
        #expect(line("link", run).hasPrefix("warn\tlink\teth0: no other host was heard over IPv4 and IPv6"), "\(run)")
        #expect(line("names", run).hasPrefix("skip\tnames\t"), "\(run)")
        try await lab.nft("h2", ["type filter hook input priority 0;", "udp dport 5353 drop"])
        let closed = try await lab.ask("h2", "doctor", within: .seconds(20))
        #expect(line("link", closed).hasPrefix("fail\tlink\teth0: "), "\(closed)")
        try await lab.stop()
    }

    @Test("a container that has nothing but the daemon's socket: what works is well, and rights are named")
    func container() async throws {
        let lab = try await Lab.start("--users")
        let configuration = "access:\n  attached: rules\n  allow:\n    - {user: \"4711\", types: [_http._tcp]}\n"
        let daemon = try await LabDaemon.start(on: "h1", of: lab, configuration)
        // As docs/containers.md's first way: no network, no bus, the directory of the socket.
        func inContainer(_ command: String) async throws -> Lab.Run {
            try await lab.bash(
                "h1",
                """
                export discoverd
                exec unshare --net --mount /bin/bash -c '
                    mkdir -p /mnt && mount --bind /run/discoverd /mnt && mount -t tmpfs tmpfs /run && mkdir /run/discoverd &&
                    mount --move /mnt /run/discoverd && exec setpriv --reuid=4711 --regid=4711 --clear-groups \(command)'
                """, within: .seconds(20))
        }
        let publish = try await inContainer("$discoverd publish boxed 8080 --type _http._tcp --detach")
        #expect(publish.exit == .exited(0), "\(publish)")
        let run = try await inContainer("$discoverd doctor")
        #expect(run.exit == .exited(0), "\(run)")
        for check in ["dbus", "avahi", "interface", "responder", "config", "names"] {
            let lines = run.output.filter { $0.split(separator: "\t").dropFirst().first == check[...] }
            #expect(lines.allSatisfy { $0.hasPrefix("skip\t") }, "\(run)")
        }
        #expect(line("finder", run).hasPrefix("ok\t") && line("publisher", run).hasPrefix("ok\t"), "\(run)")
        #expect(run.output.contains { $0.hasPrefix("ok\tdaemon\tyou may publish _http._tcp through it") }, "\(run)")
        #expect(!run.output.contains { $0.hasPrefix("ok\t") && $0.contains(" not ") }, "\(run)")
        try await daemon.stop()
        try await lab.stop()
    }
}
