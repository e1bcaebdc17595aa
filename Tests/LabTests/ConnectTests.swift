import Foundation
import Testing

/// `discoverd connect` in the lab, against independent listeners.
@Suite("Connecting", .labSlot)
struct ConnectTests {
    private var discoverd: String { Built.discoverd }

    @Test("RFC 8305: a blackholed address costs 250 ms, a refused one nothing; with all dead it ends at the limit")
    func deadAddresses() async throws {
        let lab = try await Lab.start()
        let listener = try lab.exec("h1", "nc", "-lk4", "9000")
        let service1 = try await publish(lab, "tony", 9000)

        try await lab.firewall("h1", "meta nfproto ipv6 tcp dport 9000 drop")
        let black = try await connect(lab, "tony", "--probe", "--report", "--json")
        #expect(black.exit == .exited(0))
        let report = try #require(black.report)
        #expect(report.endpoint?.address == "10.77.0.1")
        #expect(report.attempts.map(\.outcome) == ["cancelled", "connected"])
        // Less than the second after which TCP says again what is lost.
        #expect(report.milliseconds - (report.resolving ?? 0) < 900)

        try await lab.firewall("h1", "meta nfproto ipv6 tcp dport 9000 reject with tcp reset")
        let reset = try #require(try await connect(lab, "tony", "--probe", "--report", "--json").report)
        #expect(reset.attempts.map(\.outcome) == ["refused", "connected"])
        #expect(reset.milliseconds - (reset.resolving ?? 0) < 250)

        // IPv4: on a veth the ICMPv6 error arrives while the socket is locked, and Linux waits for the next SYN.
        try await lab.firewall("h1", "meta nfproto ipv4 tcp dport 9000 reject with icmp type host-unreachable")
        let noRoute = try await connect(lab, "tony", "-4", "--probe", "--report", "--json")
        #expect(noRoute.exit == .exited(76))
        let unreachable = try #require(noRoute.report)
        #expect(unreachable.attempts.map(\.outcome) == ["refused"])
        #expect(unreachable.attempts.first?.reason == "no route to host")
        #expect(try #require(unreachable.attempts.first).milliseconds < 900)

        try await lab.firewall("h1", "tcp dport 9000 drop")
        let dead = try await connect(lab, "tony", "--report", "--json", "--timeout", "2")
        #expect(dead.exit == .exited(76))
        let all = try #require(dead.report)
        #expect(all.event == "failed" && all.attempts.map(\.outcome) == ["timeout", "timeout"])
        #expect((1950..<3000).contains(all.milliseconds))
        listener.signal(SIGTERM)
        for service in [service1] { service.signal(SIGTERM) }
        try await lab.stop()
    }

    @Test("link-local IPv6 is all there is: fe80::…%eth0 is dialled, and what is sent arrives")
    func linkLocalOnly() async throws {
        let lab = try await Lab.start(hosts: 2, "--link-local-only")
        let listener = try lab.exec("h1", "nc", "-l", "-6", "9000")
        let service2 = try await publish(lab, "tony", 9000)
        let shell = try lab.exec("h2", "sh", "-c", "printf 'hello\\n' | \(discoverd) connect tony --report --json")
        #expect(try await shell.exit() == .exited(0))
        #expect(try await listener.line() == "hello")
        let report = try #require(Report(shell.lines(.stderr)))
        #expect(report.endpoint?.address.hasPrefix("fe80::") == true)
        #expect(report.endpoint?.address.hasSuffix("%eth0") == true)
        for service in [service2] { service.signal(SIGTERM) }
        try await lab.stop()
    }

    @Test("no SYN leaves for an address that the policy denies (RFC 6762 §21)")
    func forged() async throws {
        let lab = try await Lab.start(hosts: 3)
        let addresses = [
            "127.0.0.1", "::1", "0.0.0.0", "224.0.0.1", "255.255.255.255", "::ffff:127.0.0.1", "169.254.169.254",
            "fd00:ec2::254", "64:ff9b::7f00:1", "203.0.113.1", "2001:db8::1", "10.77.0.2", "10.77.0.255", "::",
        ]
        var services: [String] = []
        for (number, address) in addresses.enumerated() {
            services.append(
                """
                {"instance":"evil\(number)","type":"_witap._tcp","port":9000,"host":"evil\(number)",\
                "addresses":["\(address)"]}
                """)
        }
        services.append(
            #"{"instance":"zero","type":"_witap._tcp","port":0,"host":"zero","addresses":["10.77.0.3"]}"#)
        let injector = try lab.python("h3", "inject.py", #"{"services":[\#(services.joined(separator: ","))]}"#)
        try await injector.line(within: .seconds(10), "ready") { $0 == "ready" }

        // Counts SYNs on every interface of h2, loopback included, whatever their destination.
        try await lab.nft("h2", ["type filter hook output priority 0;", "tcp flags & (syn | ack) == syn counter"])
        var seen = 0
        for (number, address) in addresses.enumerated() {
            let outcome = try await connect(lab, "evil\(number)", "--probe", "--report", "--json", "--timeout", "2")
            if outcome.exit == .exited(1) { continue }  // avahi-daemon itself does not take it
            seen += 1
            // Avahi may drop an invalid address; then there is none to refuse.
            let report = try #require(outcome.report)
            #expect(outcome.exit == .exited(report.attempts.isEmpty ? 76 : 77), "\(address)")
            #expect(report.attempts.allSatisfy { $0.outcome == "denied" && $0.reason?.isEmpty == false }, "\(address)")
        }
        #expect(seen >= 10)
        let zero = try await connect(lab, "zero", "--probe")
        #expect(zero.exit == .exited(76))
        #expect(zero.errors.contains { $0.contains("port 0") })
        #expect(try await lab.run("h2", "nft", "list", "table", "inet", "t").contains { $0.contains("packets 0 ") })

        // The counter works: what --allow permits is dialled, and each of its SYNs is counted.
        try await lab.run("h2", "ip", "route", "add", "203.0.113.0/24", "dev", "eth0")
        try await lab.run("h2", "ip", "neigh", "add", "203.0.113.1", "lladdr", "02:00:00:00:00:01", "dev", "eth0")
        let allowed = try await connect(lab, "evil9", "--probe", "--timeout", "2", "--allow", "203.0.113.0/24")
        #expect(allowed.exit == .exited(76))
        let counted = try await lab.run("h2", "nft", "list", "table", "inet", "t")
        #expect(counted.contains { $0.contains("counter packets ") && !$0.contains("packets 0 ") }, "\(counted)")
        injector.signal(SIGTERM)
        try await lab.stop()
    }

    @Test("a thousand addresses for one host: 32 are kept, 8 are dialled")
    func manyAddresses() async throws {
        let lab = try await Lab.start(hosts: 3)
        let addresses = (0..<1000).map { "\"10.\($0 / 250 + 100).0.\($0 % 250 + 1)\"" }.joined(separator: ",")
        let input = """
            {"services":[{"instance":"many","type":"_witap._tcp","port":9000,"host":"many","addresses":[\(addresses)]}]}
            """
        let injector = try lab.exec(
            "h3", ["sh", "-c", "echo '\(input)' | \(Lab.python) \(Lab.scripts)/inject.py"],
            environment: ["PYTHONDONTWRITEBYTECODE": "1"])
        try await injector.line(within: .seconds(10), "ready") { $0 == "ready" }
        // As behind a router on the link that answers nothing.
        try await lab.run("h2", "ip", "route", "add", "10.96.0.0/12", "via", "10.77.0.1")
        let outcome = try await connect(lab, "many", "--probe", "--report", "--json", "--timeout", "10")
        #expect(outcome.exit == .exited(76))
        let report = try #require(outcome.report)
        #expect(report.attempts.count == 8)
        #expect(report.service?.endpoints.count == 32)
        injector.signal(SIGTERM)
        try await lab.stop()
    }

    @Test("half-close: the answer to the end of input arrives; a reset is an error, an output nobody reads is none")
    func halfClose() async throws {
        let lab = try await Lab.start()
        let counter = try lab.exec("h1", "socat", "TCP-LISTEN:9000,reuseaddr,fork", "SYSTEM:wc -c")
        let service3 = try await publish(lab, "count", 9000)
        let count = try lab.exec("h2", "sh", "-c", "head -c 1000000 /dev/zero | \(discoverd) connect count")
        #expect(try await count.line() == "1000000")
        #expect(try await count.exit() == .exited(0))

        // Sends endlessly; the reader leaves after one line.
        let chatter = try lab.exec("h1", "socat", "TCP-LISTEN:9001,reuseaddr,fork", "SYSTEM:yes")
        let service4 = try await publish(lab, "chatter", 9001)
        let script = "\(discoverd) connect chatter </dev/null | head -1; echo ${PIPESTATUS[0]}"
        let head = try lab.exec("h2", "bash", "-c", script)
        #expect(try await head.exit() == .exited(0))
        #expect(head.lines() == ["y", "0"])

        // From a file the kernel copies, from where the program before has left it.
        let rest = try lab.exec("h2", "bash", "-c", "{ read -rN 4 _; \(discoverd) connect count; } < /bin/bash")
        let size = try #require(FileManager.default.attributesOfItem(atPath: "/bin/bash")[.size] as? Int)
        #expect(try await rest.line() == "\(size - 4)")
        #expect(try await rest.exit() == .exited(0))

        let closed = try lab.exec("h2", "sh", "-c", "printf x | \(discoverd) connect count >&-")
        #expect(try await closed.exit() == .exited(0))

        // SO_LINGER 0: resets the connection after a line.
        let resetter = try lab.exec(
            "h1", Lab.python, "-c",
            """
            import socket, struct
            s = socket.create_server(("", 9002)); c, _ = s.accept(); c.sendall(b"line\\n"); c.recv(1)
            c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)); c.close()
            """)
        let service5 = try await publish(lab, "resetter", 9002)
        let lost = try lab.exec("h2", discoverd, "connect", "resetter", "-4")
        try await lost.line { $0 == "line" }
        lost.write("x")
        #expect(try await lost.exit() == .exited(74))
        #expect(lost.lines(.stderr).contains { $0.contains("the connection was lost") })
        for process in [counter, chatter, resetter] { process.signal(SIGTERM) }
        for service in [service3, service4, service5] { service.signal(SIGTERM) }
        try await lab.stop()
    }

    @Test("a service that vanishes before it is dialled is refused, one that nobody announces is not found")
    func vanished() async throws {
        let lab = try await Lab.start()
        let service6 = try await publish(lab, "gone", 9000)
        let refused = try await connect(lab, "gone", "--report", "--json")
        #expect(refused.exit == .exited(76))
        #expect(refused.report?.attempts.map(\.outcome) == ["refused", "refused"])
        let nobody = try await connect(lab, "nobody", "--timeout", "1")
        #expect(nobody.exit == .exited(1))
        let udp = try await connect(lab, "tony", "_foo._udp")
        #expect(udp.exit == .exited(64))
        for service in [service6] { service.signal(SIGTERM) }
        try await lab.stop()
    }
}

// MARK: How discoverd is used here
extension ConnectTests {
    struct Outcome {
        let exit: LabProcess.Exit
        let report: Report?
        let errors: [String]
    }

    /// The line that `--report --json` prints.
    struct Report: Decodable {
        struct Endpoint: Decodable { let address: String }
        struct Attempt: Decodable {
            let endpoint: Endpoint
            let outcome: String
            let milliseconds: Int
            let reason: String?
        }
        struct Service: Decodable { let endpoints: [Endpoint] }
        let event: String
        let service: Service?
        let endpoint: Endpoint?
        let milliseconds: Int
        let resolving: Int?
        let attempts: [Attempt]

        init?(_ lines: [String]) {
            guard let line = lines.first(where: { $0.hasPrefix("{") }),
                let report = try? JSONDecoder().decode(Report.self, from: Data(line.utf8))
            else { return nil }
            self = report
        }
    }

    fileprivate func connect(_ lab: Lab, _ arguments: String...) async throws -> Outcome {
        let process = try lab.exec("h2", [discoverd, "connect"] + arguments)
        process.closeInput()
        let exit = try await process.exit(within: .seconds(20))
        let errors = process.lines(.stderr)
        let events = (process.lines() + errors).filter { $0.hasPrefix("{") }
        // Reported once: on standard output if that carries nothing else, otherwise beside the connection's data.
        #expect(events.count < 2, "\(events)")
        if arguments.contains("--probe") { #expect(!errors.contains { $0.hasPrefix("{") }) }
        return Outcome(exit: exit, report: Report(events), errors: errors)
    }

    /// Publishes on h1 with an independent program, until it is signalled or no one holds it.
    fileprivate func publish(_ lab: Lab, _ name: String, _ port: Int) async throws -> LabProcess {
        let publisher = try lab.exec("h1", "sh", "-c", "exec avahi-publish -s '\(name)' _witap._tcp \(port)")
        try await publisher.line(.stderr, "established") { $0.contains("Established") }
        return publisher
    }
}
