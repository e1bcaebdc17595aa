import Foundation
import Testing

/// What a host or user can make a program of ours keep: the peak of its memory, for docs/reliability.md (`BUILT` names release programs).
extension SoakTests {
    @Suite("What attacks cost", .serialized)
    struct AttackCostTests {
        private static let most = 160 * 1024
        private static let address = "10.77.0.1:9331"

        enum Attack: String, CaseIterable {
            case requests = "100,000 requests on one connection, as nobody"
            case requestsOverTCP = "100,000 requests on one TCP connection of another host"
            case watched = "50 new services a second for a minute, one watcher"
            case watchedByMany = "400 new services a second for 40 s, eight watchers"
            case bare = "450,000 PTR records of one host"
            case nsec = "NSEC records of 2048 types for 30 s"
            case types = "PTR records of 255 types that are browsed, for 30 s"
            case drip = "a name a second that nobody answers for, a minute"
            case unheard = "20 questions a second that this host alone hears, a minute"
            case malformed = "malformed packets for 7 min, one watcher"
            case slow = "64 slow clients for a minute"
        }

        @Test("of the daemon", .timeLimit(.minutes(15)), arguments: Attack.allCases)
        func daemon(_ attack: Attack) async throws {
            let users = attack == .requests ? ["--users"] : []
            let quiet = (1...3).flatMap { ["--no-avahi", "h\($0)"] }
            let lab = try await Lab.start(["--hosts", "3"] + quiet + users, environment: [:])
            let types = [Lab.type] + (0..<255).map { "_c\($0)._tcp" }
            let daemon = try await LabDaemon.start(
                on: "h1", of: lab,
                "finder: wire\nlisten: \"\(Self.address)\"\nbrowse: [\(types.joined(separator: ", "))]\n")
            let watchers = try (0..<(attack == .watchedByMany ? 8 : 1)).map { _ in
                try lab.exec(
                    "h1",
                    [
                        "curl", "-sN", "-o", "/dev/null", "--unix-socket", LabDaemon.systemSocket,
                        "http://localhost/v1/services/watch?type=\(Lab.type)",
                    ])
            }
            if attack == .types {
                let announced = try lab.python("h3", "crowd.py", "types", "255")
                try await announced.line(within: .seconds(30)) { $0 == "done" }
            }
            let pid = try pid_t(#require(try await daemon.curl("/v1/status").json()["pid"] as? Int))
            let before = ProcessUsage(pid)
            let start = ContinuousClock.now
            let attackers = try await attackers(attack, lab, daemon)
            for attacker in attackers {
                let exit = try await attacker.exit(within: .seconds(480))
                // 124: its time is over.
                #expect(exit == .exited(attack == .unheard ? 124 : 0), "\(attacker.lines(.stderr))")
            }
            let took = start.duration(to: .now)
            let answer = try await daemon.curl("/v1/status")
            let after = ProcessUsage(pid)
            #expect(answer.status == 200 && after.peakKilobytes < Self.most, "\(after.peakKilobytes) kB")
            Figures(
                scenario: "–", what: attack.rawValue,
                note: "daemon \(before.kilobytes / 1024) → \(after.kilobytes / 1024) MB, "
                    + "at most \(after.peakKilobytes / 1024); "
                    + String(format: "%.1f s of CPU in %@", after.seconds - before.seconds, took.seconds)
            ).record()
            for watcher in watchers { watcher.signal(SIGKILL) }
            try await daemon.stop()
            try await lab.stop()
        }

        /// Starts it; it ends by itself.
        private func attackers(_ attack: Attack, _ lab: Lab, _ daemon: LabDaemon) async throws -> [LabProcess] {
            func crowd(_ arguments: String...) throws -> LabProcess { try lab.python("h3", "crowd.py", arguments) }
            let clients = "\(Lab.scripts)/hostile_clients.py"
            switch attack {
            case .requests:
                let nobody = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
                // Every user may read this one.
                let clients = "/run/lab/bin/clients.py"
                try await lab.run(
                    "h1", "install", "-D", "-m", "755", "\(Lab.scripts)/hostile_clients.py", clients)
                let client = try lab.exec(
                    "h1", nobody + ["/usr/bin/python3", clients, LabDaemon.systemSocket, "keep", "100000", "/v1/ping"])
                client.closeInput()
                return [client]
            case .requestsOverTCP:
                let client = try lab.exec(
                    "h3", ["/usr/bin/python3", clients, Self.address, "keep", "100000", "/v1/ping"])
                client.closeInput()
                return [client]
            case .watched: return [try crowd("full", "3000", Lab.type, "1", "--apart", "--rate", "50")]
            case .watchedByMany: return [try crowd("full", "16000", Lab.type, "1", "--apart", "--rate", "400")]
            case .bare: return [try crowd("bare", "450000", Lab.type, "--rate", "1000")]
            case .nsec: return [try crowd("nsec", "30")]
            case .types: return [try crowd("typesptr", "30", "255")]
            case .drip: return [try crowd("drip", "60", Lab.type)]
            case .unheard:
                let link = try await lab.run("h1", "ip", "-o", "link", "show", "eth0").joined()
                let mac = try #require(link.firstMatch(of: /link\/ether ([0-9a-f:]+)/)?.output.1)
                return [
                    try lab.exec(
                        "h3",
                        [
                            "timeout", "60", Lab.python, "\(Lab.scripts)/unheard.py", "mac", String(mac), Lab.type,
                            "20",
                        ], environment: ["PYTHONDONTWRITEBYTECODE": "1"])
                ]
            case .malformed: return [try lab.python("h3", "fuzz.py", "420", Lab.type)]
            case .slow:
                return [
                    try lab.exec(
                        "h1", ["/usr/bin/python3", clients, LabDaemon.systemSocket, "slow", "64", "60"])
                ]
            }
        }

        @Test("of the page's server: 40,000 requests without its key")
        func page() async throws {
            let lab = try await Lab.start(hosts: 1)
            let page = try lab.discoverd("h1", "show", "--port", "8765")
            try await page.line(within: .seconds(20)) { $0.contains("8765") }
            let before = ProcessUsage(page.pid)
            let client = try lab.exec(
                "h1",
                [
                    "/usr/bin/python3", "\(Lab.scripts)/hostile_clients.py", "127.0.0.1:8765", "keep", "40000",
                    "/v1/services",
                ])
            client.closeInput()
            #expect(try await client.exit(within: .seconds(120)) == .exited(0))
            let after = ProcessUsage(page.pid)
            #expect(after.kilobytes < before.kilobytes + 4_096, "\(before.kilobytes) → \(after.kilobytes) kB")
            Figures(
                scenario: "–", what: "40,000 requests to the page's server, without its key",
                note: "\(before.kilobytes / 1024) → \(after.kilobytes / 1024) MB"
            ).record()
            try await page.stop()
            try await lab.stop()
        }

        @Test("of `pair`, which waits for its person: 400 connections of one byte")
        func pair() async throws {
            let lab = try await Lab.start(hosts: 3)
            let screen = try await TerminalScreen(lab, "h1")
            try await screen.run("sh -c 'echo $$ >/run/pair.pid; exec \(Built.discoverd) key pair'")
            try await screen.shows("on the other machine")
            let pid = try #require(try await lab.run("h1", "cat", "/run/pair.pid").first.flatMap { pid_t($0) })
            let resolved = try await lab.ask("h2", "resolve", "h1", "_discoverd-pair._tcp", "--json")
            let port = try #require(try resolved.services().first?.port, "\(resolved)")
            let before = ProcessUsage(pid)
            let strangers = try lab.python("h3", "newcomers.py", "10.77.0.1", "\(port)", "400")
            try await strangers.line(.stdout, "ready") { $0 == "ready" }
            // The minute is what is measured.
            try await Task.sleep(for: .seconds(60))
            let after = ProcessUsage(pid)
            #expect(after.peakKilobytes < Self.most)
            Figures(
                scenario: "–", what: "`key pair` beside 400 connections of one byte for a minute",
                note: "\(before.kilobytes / 1024) → \(after.kilobytes / 1024) MB, at most \(after.peakKilobytes / 1024)"
            ).record()
            strangers.signal(SIGKILL)
            try await screen.close()
            try await lab.stop()
        }

        @Test("of a gateway: 16,000 services of its link, 400 a second", .timeLimit(.minutes(10)))
        func gateway() async throws {
            let site = GatewayStandbyTests.Site.bind
            let (dns, _) = try await site.start()
            let daemon = try LabDaemon(dns.lab, "h1", socket: LabDaemon.systemSocket)
            try daemon.configure(
                """
                domains:
                  - {name: \(site.domain), key: /run/dns/keys/gw.key, lease: 60s, host: gw}
                export:
                  - {interface: eth0, domain: \(site.domain), types: [_ipp._tcp]}
                """)
            let process = try await daemon.start(
                arguments: daemon.arguments + ["--state", "\(daemon.directory)/state"])
            let before = ProcessUsage(process.pid)
            let crowd = try dns.lab.python(
                "h2", "crowd.py", "full", "16000", "_ipp._tcp", "1", "--apart", "--rate", "400", "--address",
                "10.53.1.77")
            try await crowd.line(.stdout, within: .seconds(120)) { $0 == "done" }
            _ = try await daemon.curl("/v1/status", within: .seconds(60)) { answer in
                try answer.objects("domains").first?["services"] as? Int == 90
            }
            let after = ProcessUsage(process.pid)
            #expect(after.peakKilobytes < Self.most)
            Figures(
                scenario: "–", what: "a gateway of a link with 16,000 services of one host, 400 a second",
                note:
                    "\(before.kilobytes / 1024) → \(after.kilobytes / 1024) MB, at most \(after.peakKilobytes / 1024); "
                    + String(format: "%.1f s of CPU", after.seconds - before.seconds)
            ).record()
            try await daemon.stop()
            try await dns.stop()
        }

        @Test("of a list of a zone whose 2700 records live 0 s", .timeLimit(.minutes(10)))
        func zone() async throws {
            let dns = try await DNSLab.start(.bind, .unbound)
            let zone = DNSLab.Zone.bind
            let domains = (1...10).map { "link\($0).\(zone.name)" }
            // A server keeps no more than 100 records of one name and type.
            for domain in domains {
                let lines = (0..<90).flatMap { n in
                    [
                        "update add _many._tcp.\(domain). 0 PTR s\(n)._many._tcp.\(domain).",
                        "update add s\(n)._many._tcp.\(domain). 0 SRV 0 0 9000 \(zone.name).",
                        "update add s\(n)._many._tcp.\(domain). 0 TXT \"a=b\"",
                    ]
                }
                try await dns.nsupdate(zone.address, zone.name, lines)
            }
            try await dns.lab.nft(
                "h3",
                """
                table inet count {
                chain out {
                type filter hook output priority 0
                udp dport 53 counter
                tcp dport 53 counter
                }
                }
                """)
            let list = try dns.lab.exec(
                "h3",
                [Built.discoverd, "browse", "_many._tcp", "-r", "--json", "--no-daemon"]
                    + domains.flatMap { ["--domain", $0] })
            try await list.line(within: .seconds(60)) { $0.contains(#""event":"settled""#) }
            let (before, start) = (ProcessUsage(list.pid), try await asked(dns))
            // The minute is what is measured.
            try await Task.sleep(for: .seconds(60))
            let (after, end) = (ProcessUsage(list.pid), try await asked(dns))
            #expect(after.peakKilobytes < Self.most)
            Figures(
                scenario: "–", what: "a zone with 2700 records that live 0 s, browsed for a minute",
                note: "\((end - start) / 60) packets a second to the server, "
                    + "\(Int((after.seconds - before.seconds) / 60 * 100)) % of a core, "
                    + "at most \(after.peakKilobytes / 1024) MB"
            ).record()
            try await list.stop()
            try await dns.stop()
        }

        private func asked(_ dns: DNSLab) async throws -> Int {
            try await dns.lab.run("h3", "nft", "list", "table", "inet", "count")
                .compactMap { $0.firstMatch(of: /counter packets (\d+)/).flatMap { Int($0.output.1) } }.reduce(0, +)
        }
    }
}
