import Foundation
import Testing

/// The tutorial's programs with Foundation's old names, between two hosts and with independent programs.
@Suite("NetService by its old names", .labSlot)
struct NetServiceTests {
    private static let program = Built.program("BonjourByOldNames")
    private let patience = Duration.seconds(20)

    /// Starts a published server; returns its port.
    private func server(_ lab: Lab, _ host: String, _ arguments: String...) async throws -> (LabProcess, String) {
        let server = try lab.exec(host, [Self.program, "server"] + arguments)
        let line = try await server.line(within: patience, "did publish") { $0.hasPrefix("did publish") }
        return (server, String(line.split(separator: " ").last ?? ""))
    }

    @Test("a server and a client that knows the name: resolved, greeted and answered, with every event said")
    func resolving() async throws {
        let lab = try await Lab.start()
        let (server, port) = try await server(lab, "h1")
        // The tutorial's limit is one second; a busy machine may need more than one try.
        var run = try await lab.toEnd("h2", [Self.program, "resolve"], within: patience)
        for _ in 0..<5 where run.exit == .exited(1) {
            run = try await lab.toEnd("h2", [Self.program, "resolve"], within: patience)
        }
        #expect(run.exit == .exited(0))
        let order = [
            "will resolve tony._tonyipp._tcp.local", "did resolve tony._tonyipp._tcp.local: h1.local. port \(port)",
            "address 10.77.0.1:\(port)",
        ]
        #expect(Array(run.output.prefix(3)) == order)
        #expect(run.output.contains { $0.hasPrefix("address [fe80::") && $0.hasSuffix("%eth0]:\(port)") })
        for line in ["did stop tony._tonyipp._tcp.local", "input: open completed", "output: open completed"] {
            #expect(run.output.contains(line), "\(run.output)")
        }
        #expect(run.output.last == #"received: Hello Client!\u{0}"#)
        try await server.line(within: patience) { $0 == #"received: Hello Server!\u{0}"# }
        try await server.line(within: patience) { $0 == "input: end encountered" }
        let nobody = try await lab.toEnd("h2", [Self.program, "resolve", "nobody"], within: patience)
        #expect(nobody.exit == .exited(1))
        #expect(nobody.output.last?.contains("did not resolve nobody._tonyipp._tcp.local: error -72007") == true)
        try await server.stop()
        #expect(server.lines().last == "did stop tony._tonyipp._tcp.local")
        try await lab.stop()
    }

    @Test("the server is seen by avahi-browse and answers nc; a taken name is an error, or another name", .onlyInAll)
    func otherClients() async throws {
        let lab = try await Lab.start()
        let (server, port) = try await server(lab, "h1")
        let seen = try await lab.run("h2", "avahi-browse", "-rtp", "_tonyipp._tcp")
        #expect(seen.contains { $0.hasPrefix("=;eth0;IPv4;tony;") && $0.contains(";10.77.0.1;\(port);\"greeted=0\"") })
        let command = #"printf 'Hello Server!\0Again!\0' | nc -N 10.77.0.1 \#(port) | od -An -c | tr -d ' \n'"#
        let answer = try await lab.bash("h2", command, within: patience)
        #expect(answer.output == [#"HelloClient!\0HelloClient!\0"#])
        let refused = try await lab.toEnd("h2", [Self.program, "server", "tony", "--no-auto-rename"], within: patience)
        #expect(refused.exit == .exited(73))
        #expect(refused.output.last == "did not publish tony._tonyipp._tcp.local: error -72001: the name tony is taken")
        let (second, _) = try await self.server(lab, "h2", "tony")
        #expect(second.lines().last?.hasPrefix("did publish tony #2._tonyipp._tcp.local") == true)
        try await second.stop()
        try await server.stop()
        try await lab.stop()
    }

    @Test("a client greets nc that avahi-publish announces; without a listener its streams report that", .onlyInAll)
    func otherServers() async throws {
        let lab = try await Lab.start()
        let publisher = try lab.exec("h1", "avahi-publish", "-s", "tony", "_tonyipp._tcp", "9000")
        try await publisher.line(.stderr, "established") { $0.contains("Established") }
        let failed = try await lab.toEnd("h2", [Self.program, "resolve"], within: patience)
        #expect(failed.exit == .exited(76), "\(failed.output)")
        #expect(failed.output.contains { $0.hasPrefix("input: error: ") })
        let nc = try lab.exec("h1", "/bin/bash", "-c", #"printf 'Hello Client!\0' | nc -l 9000 | tr '\0' '\n'"#)
        var run = failed
        // It will be listening soon.
        for _ in 0..<50 where run.exit != .exited(0) {
            run = try await lab.toEnd("h2", [Self.program, "resolve"], within: patience)
        }
        #expect(run.exit == .exited(0), "\(run.output)")
        // In either order.
        #expect(run.output.contains(#"received: Hello Client!\u{0}"#), "\(run.output)")
        #expect(run.output.contains("output: 14 bytes written"), "\(run.output)")
        try await nc.line(within: patience) { $0 == "Hello Server!" }
        publisher.signal(SIGTERM)
        try await publisher.exit()
        try await lab.stop()
    }

    @Test("a browser's list grows and shrinks; the TXT record is followed while the server counts", .onlyInAll)
    func browsingAndMonitoring() async throws {
        let lab = try await Lab.start()
        let browser = try lab.exec("h2", Self.program, "browse")
        try await browser.line { $0 == "will search" }
        let (server, port) = try await server(lab, "h1")
        try await browser.line(within: patience) { $0 == "found tony._tonyipp._tcp.local, more coming: false" }
        let publisher = try await lab.avahiPublish("h1", "ann", "_tonyipp._tcp", "9001")
        try await browser.line(within: patience) { $0 == "list: ann, tony" }
        let monitor = try lab.exec("h2", Self.program, "monitor")
        try await monitor.line(within: patience) { $0.hasSuffix("tony._tonyipp._tcp.local: greeted=0") }
        _ = try await lab.bash("h2", #"printf 'Hi\0' | nc -N 10.77.0.1 \#(port)"#, within: patience)
        try await monitor.line(within: patience) { $0.hasSuffix("tony._tonyipp._tcp.local: greeted=1") }
        #expect(!browser.lines().contains { $0.hasPrefix("removed") })
        publisher.signal(SIGTERM)
        try await browser.line(within: patience) { $0 == "list: tony" }
        try await server.stop()
        try await browser.line(within: patience) { $0 == "list: nobody" }
        try await browser.stop()
        #expect(browser.lines().last == "did stop search")
        try await monitor.stop()
        try await lab.stop()
    }
}
