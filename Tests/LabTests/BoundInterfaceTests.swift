import Foundation
import Testing

/// What is announced on one interface can be reached through it and no other; elsewhere there is no answer, as behind a firewall.
@Suite("Listening on an interface", .labSlot)
struct BoundInterfaceTests {
    /// Two hosts with two links, and the routes that a packet can take.
    private func start() async throws -> Lab {
        let lab = try await Lab.start()
        try await lab.lab("link", "h1", "eth1", "10.78.0.1/24")
        try await lab.lab("link", "h2", "eth1", "10.78.0.2/24")
        return lab
    }

    /// Whether an address does not answer a host at all: neither a connection nor a refusal.
    private func isSilent(_ lab: Lab, _ host: String, _ address: String) async throws -> Bool {
        let command = "socat -t 1 - TCP:\(address),connect-timeout=1 </dev/null 2>&1 | grep -c 'timed out'"
        return try await lab.bash(host, command).output.first == "1"
    }

    /// What a host receives from an address; nothing if the connection was closed.
    private func said(_ lab: Lab, _ host: String, _ address: String, _ words: String = "hello") async throws -> String {
        let command = "printf '\(words)\\n' | socat -t 3 - TCP:\(address),connect-timeout=3 2>/dev/null | tr -d '\\0'"
        return try await lab.bash(host, command).output.joined()
    }

    private func checkWays(_ lab: Lab, _ port: String, _ answer: String, over family: String = "") async throws {
        #expect(try await said(lab, "h2", "10.77.0.1:\(port)") == answer)
        #expect(try await isSilent(lab, "h2", "10.78.0.1:\(port)"), "the other link's address")
        #expect(try await said(lab, "h1", "127.0.0.1:\(port)") == "", "loopback")
        #expect(try await said(lab, "h1", "10.77.0.1:\(port)") == answer, "this machine, at the link's address")
        #expect(try await said(lab, "h1", "10.78.0.1:\(port)") == "", "this machine, at the other link's address")
        try await lab.run("h1", "ip", "addr", "add", "10.77.0.201/24", "dev", "eth0", "label", "eth0:1")
        #expect(try await said(lab, "h1", "10.77.0.201:\(port)") == answer, "this machine, at an address with a label")
        try await lab.run("h1", "ip", "addr", "del", "10.77.0.201/24", "dev", "eth0")
        // Linux also answers on eth1 for an address of eth0.
        try await lab.run("h2", "ip", "route", "add", "10.77.0.1/32", "via", "10.78.0.1", "dev", "eth1")
        #expect(try await isSilent(lab, "h2", "10.77.0.1:\(port)"), "the link's address, by the other link")
        try await lab.run("h2", "ip", "route", "del", "10.77.0.1/32")
        // And on eth0 for an address of eth1.
        try await lab.run("h2", "ip", "route", "add", "10.78.0.1/32", "via", "10.77.0.1", "dev", "eth0")
        #expect(try await said(lab, "h2", "10.78.0.1:\(port)") == answer, "the other link's address, by the link")
        try await lab.run("h2", "ip", "route", "del", "10.78.0.1/32", "via", "10.77.0.1")
        // Addresses may change; the interface is what counts.
        try await lab.run("h1", "ip", "addr", "add", "10.77.0.101/24", "dev", "eth0")
        #expect(try await said(lab, "h2", "10.77.0.101:\(port)") == answer, "an address that came later")
        try await lab.run("h1", "ip", "addr", "del", "10.77.0.101/24", "dev", "eth0")
        guard family.isEmpty else { return }
        #expect(try await said(lab, "h1", "[::1]:\(port)") == "")
        for link in ["eth0", "eth1"] {
            let text = try await lab.bash(
                "h1", "ip -6 -o addr show dev \(link) scope link | awk '{print $4}' | cut -d/ -f1")
            let address = try #require(text.output.first)
            let place = "[\(address)%\(link)]:\(port)"
            if link == "eth0" {
                #expect(try await said(lab, "h2", place) == answer)
            } else {
                #expect(try await isSilent(lab, "h2", place))
            }
        }
    }

    private func port(_ process: LabProcess) throws -> String {
        let line = try #require(process.lines().first { $0.contains(" port ") })
        return String(try #require(line.split(separator: " ").last))
    }

    @Test("discoverd listen --interface, with a socket of both families and of IPv4 alone", arguments: ["", "-4"])
    func listen(_ family: String) async throws {
        let lab = try await start()
        let arguments =
            ["listen", "files", "0", "--interface", "eth0"] + (family.isEmpty ? [] : [family]) + ["--", "cat"]
        let listener = try lab.exec("h1", [Built.discoverd] + arguments)
        try await listener.line { $0.hasPrefix("published ") }
        try await checkWays(lab, port(listener), "hello", over: family)
        try await listener.stop()
        try await lab.stop()
    }

    @Test(
        "a link that comes later, goes and comes again with another number, or is called another name: it is what it is called",
        arguments: [true, false])
    func later(isCommand: Bool) async throws {
        let lab = try await Lab.start()
        let program =
            isCommand
            ? [Built.discoverd, "listen", "files", "9000", "--interface", "eth1", "--", "cat"]
            : [Built.program("stream-hello"), "serve", "--port", "9000", "--interface", "eth1"]
        let listener = try lab.exec("h1", program)
        try await lab.run("h1", "sh", "-c", "until ss -Hltn 'sport = 9000' | grep -q .; do sleep 0.05; done")
        let answer = isCommand ? "hello" : "Hello Client!"
        #expect(try await isSilent(lab, "h2", "10.77.0.1:9000"), "the link that is there is not meant")
        for _ in 0..<2 {
            try await lab.lab("link", "h1", "eth1", "10.78.0.1/24")
            try await lab.lab("link", "h2", "eth1", "10.78.0.2/24")
            #expect(try await said(lab, "h2", "10.78.0.1:9000") == answer)
            #expect(try await isSilent(lab, "h2", "10.77.0.1:9000"))
            for host in ["h1", "h2"] { try await lab.run(host, "ip", "link", "del", "eth1") }
        }
        for (old, new) in [("eth0", "eth1"), ("eth1", "eth0")] {
            for command in ["down", "name \(new)", "up"] {
                let device = command == "up" ? new : old
                try await lab.run("h1", "sh", "-c", "ip link set \(device) \(command)")
            }
            if new == "eth1" {
                #expect(try await said(lab, "h2", "10.77.0.1:9000") == answer)
            } else {
                #expect(try await isSilent(lab, "h2", "10.77.0.1:9000"))
            }
        }
        try await listener.stop()
        try await lab.stop()
    }

    @Test("stream-hello serve --interface, published and not", .onlyInAll)
    func streamHello() async throws {
        let lab = try await start()
        for options in [[], ["--publish", "--port", "9000"]] {
            let server = try lab.exec(
                "h1", [Built.program("stream-hello"), "serve", "--interface", "eth0"] + options)
            try await server.line { $0 == "listening on port 9000" }
            try await checkWays(lab, "9000", "Hello Client!")
            try await server.stop()
        }
        try await lab.stop()
    }

    @Test("lanchat serve --interface: handlers alone are given no connection either")
    func lanchat() async throws {
        let lab = try await start()
        let server = try lab.app("h1", "lanchat", "serve", "--name", "den", "--plain", "--interface", "eth0")
        try await server.line { $0.hasPrefix("published ") }
        let words = #"iam:anna"#
        #expect(try await said(lab, "h2", "10.77.0.1:6222", words).contains("anna has joined"))
        #expect(try await isSilent(lab, "h2", "10.78.0.1:6222"))
        for address in ["127.0.0.1", "[::1]"] {
            #expect(try await said(lab, "h1", "\(address):6222", words) == "", "\(address)")
        }
        try await server.stop()
        try await lab.stop()
    }

    @Test("filedrop receive --interface: no file comes by another link, in either mode")
    func filedrop() async throws {
        let lab = try await start()
        let folder = try TestFolder()
        try folder.makeFile("file", size: 1000)
        let receiver = try lab.exec(
            "h1",
            [
                Built.program("filedrop"), "receive", "\(folder.path)/in", "--interface", "eth0", "--name", "anna",
                "--trust-first",
            ],
            environment: ["XDG_STATE_HOME": "\(folder.path)/state"])
        try await receiver.line { $0.hasPrefix("published ") }
        let resolved = try await lab.ask("h2", "resolve", "anna", "_x-SNSUpload._tcp", "--json")
        guard case .text(let framed) = try #require(try resolved.services().first?.txt?["port"] ?? nil) else { return }
        for port in [framed, try port(receiver)] { #expect(try await isSilent(lab, "h2", "10.78.0.1:\(port)")) }
        #expect(try await said(lab, "h1", "127.0.0.1:\(port(receiver))") == "")
        #expect(try await said(lab, "h2", "10.77.0.1:\(port(receiver))").hasPrefix("filedrop: "))
        let handshake = "openssl s_client -connect %:\(framed) </dev/null 2>/dev/null | grep -c 'BEGIN CERTIFICATE'"
        for (host, address, count) in [("h1", "127.0.0.1", "0"), ("h2", "10.77.0.1", "1")] {
            let shaken = try await lab.bash(host, handshake.replacingOccurrences(of: "%", with: address))
            #expect(shaken.output == [count], "\(host)")
        }
        #expect(folder.names("in").isEmpty)
        let command = ["/usr/bin/env", "XDG_STATE_HOME=\(folder.path)/state2", Built.program("filedrop"), "send"]
        let sent = try await lab.toEnd("h2", command + ["\(folder.path)/file", "--trust-first"], within: .seconds(30))
        #expect(sent.exit == .exited(0), "\(sent.errors)")
        #expect(folder.isSame("file", "in/file"))
        try await receiver.stop()
        try await lab.stop()
    }
}
