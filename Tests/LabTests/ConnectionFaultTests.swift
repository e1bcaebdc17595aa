import Foundation
import Testing

/// Connections whose other side is slow or gone, or whose name leads in circles.
@Suite("Connections that go wrong", .labSlot)
struct ConnectionFaultTests {
    @Test("the peer's link is cut while nobody sends: connect and forward end the connection within 30 s")
    func halfOpen() async throws {
        let lab = try await Lab.start()
        let peer = try lab.exec("h1", "socat", "TCP-LISTEN:9000,reuseaddr,fork", "SYSTEM:echo hello; sleep 1000")
        let publisher = try await lab.avahiPublish("h1", "far", "_witap._tcp", "9000")
        let connection = try lab.exec("h2", [Built.discoverd, "connect", "far"] + Lab.finder)
        try await connection.line { $0 == "hello" }
        let forwarder = try lab.exec("h2", [Built.discoverd, "forward", "9100", "far"] + Lab.finder)
        try await forwarder.line { $0.hasPrefix("forwarding") }
        let caller = try lab.exec("h2", "socat", "-", "TCP:127.0.0.1:9100")
        try await caller.line { $0 == "hello" }

        try await lab.firewall("h2", #"iifname "eth0" drop"#)
        let start = ContinuousClock.now
        #expect(try await connection.exit(within: .seconds(45)) == .exited(74))
        let ended = ContinuousClock.now - start
        // Keepalive: 10 s of silence, then three probes 5 s apart.
        #expect(ended > .seconds(15) && ended < .seconds(30), "\(ended)")
        #expect(connection.lines(.stderr).contains { $0.contains("the connection was lost") })
        _ = try await caller.exit(within: .seconds(15))
        for process in [peer, publisher, forwarder] { process.signal(SIGTERM) }
        try await lab.stop()
    }

    @Test("the other side closes in good order while there is still input: it is said that not all was sent, with 74")
    func unsent() async throws {
        let lab = try await Lab.start()
        let listener = """
            import socket
            server = socket.create_server(("", 9000)); print("listening", flush=True)
            connection, _ = server.accept(); connection.recv(4); connection.close(); print("closed", flush=True)
            """
        let peer = try lab.exec("h1", Lab.python, "-c", listener)
        try await peer.line { $0 == "listening" }
        let publisher = try await lab.avahiPublish("h1", "curt", "_witap._tcp", "9000")
        let connect = (["$discoverd", "connect", "curt", "-4"] + Lab.finder).joined(separator: " ")
        let run = try await lab.bash(
            "h2", "(printf ping; sleep 1; head -c 10000000 /dev/zero) | \(connect); echo ${PIPESTATUS[1]}")
        #expect(peer.lines().contains("closed"))
        #expect(run.output == ["74"], "\(run)")
        #expect(run.failure?.hasSuffix(", and not all was sent") == true, "\(run)")
        publisher.signal(SIGTERM)
        try await lab.stop()
    }

    @Test(
        "the peer's link is cut while something is sent: connect ends within 40 s, over TLS as well", .labLong,
        arguments: [[], ["--tls", "--trust", "first"]])
    func cutWhileSending(trust: [String]) async throws {
        let lab = try await Lab.start()
        let listen = [Built.discoverd, "listen", "sink", "9000"] + trust
        let sink = "head -c 1000000 >/dev/null; echo got; cat >/dev/null"
        let listener = try lab.exec("h1", listen + ["--", "sh", "-c", sink])
        try await listener.line { $0.hasPrefix("published") }
        let connect = ([Built.discoverd, "connect", "sink", "-4"] + trust).joined(separator: " ")
        let sender = try lab.exec("h2", "bash", "-c", "exec 3< <(cat /dev/zero); exec \(connect) <&3")
        try await sender.line { $0 == "got" }
        try await lab.firewall("h2", #"iifname "eth0" drop"#)
        let start = ContinuousClock.now
        #expect(try await sender.exit(within: .seconds(60)) == .exited(74))
        let ended = ContinuousClock.now - start
        #expect(ended > .seconds(20) && ended < .seconds(40), "\(ended)")
        listener.signal(SIGTERM)
        try await lab.stop()
    }

    /// Accepts one connection and says so; reads nothing until its standard input has a line, then prints how much arrived.
    private static let slowPeer = """
        import socket, sys
        server = socket.create_server(("", 9000)); connection, _ = server.accept(); print("accepted", flush=True)
        sys.stdin.readline()
        count = 0
        while data := connection.recv(1 << 20): count += len(data)
        print(count, flush=True)
        """

    @Test("a peer that does not read: what it has not taken stays with the sender, and all of it arrives in the end")
    func slowPeer() async throws {
        let lab = try await Lab.start()
        let size = 100_000_000
        let peer = try lab.exec("h1", Lab.python, "-c", Self.slowPeer)
        let publisher = try await lab.avahiPublish("h1", "slow", "_witap._tcp", "9000")
        let connect = ([Built.discoverd, "connect", "slow", "-4"] + Lab.finder).joined(separator: " ")
        let script = "exec 3< <(head -c \(size) /dev/zero); exec \(connect) <&3"
        let sender = try lab.exec("h2", "bash", "-c", script)
        try await peer.line { $0 == "accepted" }
        // Until nothing moves any more: the kernel's buffers along the way are full.
        let (read, usage) = try await settled(sender)
        #expect(read < size / 2, "\(read) bytes were read ahead of the peer")
        #expect(usage.kilobytes < 64_000, "\(usage.kilobytes) kB")
        peer.write("go\n")
        #expect(try await peer.line(within: .seconds(60)) == String(size))
        #expect(try await sender.exit() == .exited(0))
        publisher.signal(SIGTERM)
        try await lab.stop()
    }

    /// Calls h1's port 9100 and reads nothing until its standard input has a line, then prints how much arrived.
    private static let restingReader = """
        import socket, sys
        connection = socket.create_connection(("10.77.0.1", 9100)); sys.stdin.readline()
        count = 0
        while data := connection.recv(1 << 20): count += len(data)
        print(count, flush=True)
        """

    @Test("a peer that takes nothing for 35 s: connect, and a program of listen, wait, and all arrives", .labLong)
    func restingPeer() async throws {
        let lab = try await Lab.start()
        let size = 50_000_000
        let listen = [Built.discoverd, "listen", "source", "9100"] + Lab.finder
        let listener = try lab.exec("h1", listen + ["--", "head", "-c", "\(size)", "/dev/zero"])
        try await listener.line { $0.hasPrefix("published") }
        let peer = try lab.exec("h1", Lab.python, "-c", Self.slowPeer)
        let publisher = try await lab.avahiPublish("h1", "rests", "_witap._tcp", "9000")
        let connect = ([Built.discoverd, "connect", "rests", "-4"] + Lab.finder).joined(separator: " ")
        let sender = try lab.exec("h2", "bash", "-c", "exec 3< <(head -c \(size) /dev/zero); exec \(connect) <&3")
        try await peer.line { $0 == "accepted" }
        let reader = try lab.exec("h2", Lab.python, "-c", Self.restingReader)
        // What is measured: the kernel ended both after 25 s.
        try await Task.sleep(for: .seconds(35))
        peer.write("go\n")
        reader.write("go\n")
        #expect(try await peer.line(within: .seconds(60)) == String(size))
        #expect(try await sender.exit() == .exited(0))
        #expect(try await reader.line(within: .seconds(60)) == String(size))
        for process in [publisher, listener] { process.signal(SIGTERM) }
        try await lab.stop()
    }

    /// How much a process has read once that has stayed the same for a second, and its resource usage then.
    private func settled(_ process: LabProcess) async throws -> (Int, ProcessUsage) {
        var last = -1
        for _ in 0..<60 {
            let read = bytesRead(process)
            if read == last, read > 0 { return (read, ProcessUsage(process.pid)) }
            last = read
            // Only waiting shows that nothing moves any more.
            try await Task.sleep(for: .seconds(1))
        }
        throw process.missed("it never stopped reading")
    }

    private func bytesRead(_ process: LabProcess) -> Int {
        let text = (try? String(contentsOfFile: "/proc/\(process.pid)/io", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("rchar: ") }
        return line.flatMap { Int($0.dropFirst(7)) } ?? 0
    }

    @Test("a host whose backlog is full answers late: the other address wins, and the late connection gets no byte")
    func fullBacklog() async throws {
        let lab = try await Lab.start()
        // SYNs over IPv6 arrive late, long after the other family has won.
        try await lab.firewall("h1", "meta nfproto ipv6 tcp dport 9000 tcp flags & (syn | ack) == syn drop")
        let peer = try lab.exec("h1", "socat", "-d", "-d", "TCP6-LISTEN:9000,ipv6only=0,reuseaddr,fork", "SYSTEM:cat")
        try await peer.line(.stderr) { $0.contains("listening on") }
        let publisher = try await lab.avahiPublish("h1", "late", "_witap._tcp", "9000")
        let connect = [Built.discoverd, "connect", "late", "--report"]
        let connection = try lab.exec("h2", connect + Lab.finder)
        connection.write("one\n")
        try await connection.line { $0 == "one" }
        // Printed before that, by another pipe.
        for words in ["cancelled", "connected to 10.77.0.1"] {
            try await connection.line(.stderr, "the report: \(words)") { $0.contains(words) }
        }
        // From here on, a SYN sent again would be answered.
        try await lab.firewall("h1", "tcp dport 9000 counter")
        connection.closeInput()
        #expect(try await connection.exit() == .exited(0))
        #expect(peer.lines(.stderr).filter { $0.contains("accepting connection") }.count == 1)
        for process in [peer, publisher] { process.signal(SIGTERM) }
        try await lab.stop()
    }

    @Test("PTR and CNAME records that lead in circles: nobody hangs, and what is good beside them is connected to")
    func loops() async throws {
        let lab = try await Lab.start(hosts: 3)
        let hosts = ["self", "ring", "chain"]
        let services = hosts.map {
            #"{"instance":"\#($0)","type":"_witap._tcp","port":9000,"host":"\#($0)-0","addresses":[]}"#
        }
        func alias(_ name: String, _ target: String) -> String {
            #"{"name":"\#(name).local","type":"CNAME","target":"\#(target).local"}"#
        }
        var records = [#"{"name":"_witap._tcp.local","type":"PTR","target":"_witap._tcp.local"}"#]
        records += [alias("self-0", "self-0"), alias("ring-0", "ring-1"), alias("ring-1", "ring-0")]
        records += (0..<40).map { alias("chain-\($0)", "chain-\($0 + 1)") }
        let injector = try await lab.inject(
            "h3",
            #"{"services":[\#(services.joined(separator: ","))],"records":[\#(records.joined(separator: ","))]}"#)
        let listener = try lab.discoverd("h1", "listen", "good", "0", "--", "cat")
        try await listener.line { $0.hasPrefix("published") }
        let browse = [Built.discoverd, "browse", "_witap._tcp", "-r", "--json"]
        let browser = try lab.exec("h2", browse + Lab.finder)
        var seen: Set<String> = []
        while !seen.isSuperset(of: hosts + ["good"]) {
            let line = try await browser.json("\(seen) and more") { $0.event == "added" }
            if let name = line.service?.name { seen.insert(name) }
        }
        let before = ProcessUsage(browser.pid)
        for name in hosts {
            let connect = [Built.discoverd, "connect", name, "--probe", "--timeout", "3"]
            let outcome = try await lab.toEnd("h2", connect + Lab.finder, within: .seconds(15))
            #expect(outcome.exit == .exited(76), "\(name): \(outcome.errors)")
            #expect(outcome.duration < .seconds(8), "\(name): \(outcome.duration)")
        }
        #expect(try await lab.ask("h2", "connect", "good", "--probe").exit == .exited(0))
        let after = ProcessUsage(browser.pid)
        #expect(after.kilobytes < before.kilobytes + 4_000 && after.seconds < before.seconds + 2)
        try await browser.stop()
        for process in [injector, listener] { process.signal(SIGTERM) }
        try await lab.stop()
    }
}
