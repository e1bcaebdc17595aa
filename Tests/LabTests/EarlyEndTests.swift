import Glibc
import Testing

/// Every listening program survives 1000 connections that end early (reset, closed, half a request), and still serves.
@Suite("Connections that end early", .labSlot)
struct EarlyEndTests {
    private func port(_ process: LabProcess, _ stream: LabProcess.Output = .stdout) throws -> String {
        let line = try #require(process.lines(stream).first { $0.contains(" port ") })
        return String(try #require(line.split(separator: " ").last))
    }

    private func echo(_ lab: Lab, _ host: String, _ address: String) async throws -> Bool {
        let answer = try await lab.bash(host, "echo it lives | socat -t 5 - TCP:\(address)")
        return answer.output == ["it lives"]
    }

    @Test("discoverd listen, with a program for each and for one connection alone")
    func listen() async throws {
        let lab = try await Lab.start()
        let listener = try lab.discoverd("h1", "listen", "files", "0", "--", "cat")
        try await listener.line { $0.hasPrefix("published ") }
        let address = "10.77.0.1:\(try port(listener))"
        try await lab.endEarly("h2", address, requests: [[UInt8](repeating: 7, count: 5000)])
        #expect(try await echo(lab, "h2", address))
        try await listener.stop()
        try await lab.stop()
    }

    @Test("discoverd forward, to a service that itself ends early as well", .onlyInAll)
    func forward() async throws {
        let lab = try await Lab.start()
        let listener = try lab.discoverd("h1", "listen", "files", "0", "--", "cat")
        try await listener.line { $0.hasPrefix("published ") }
        let forwarder = try lab.discoverd("h2", "forward", "0", "files")
        try await forwarder.line { $0.hasPrefix("forwarding ") }
        let words = try #require(forwarder.lines().first).split(separator: " ")
        let address = String(try #require(words.dropFirst().first))
        try await lab.endEarly("h2", address, requests: [[UInt8](repeating: 7, count: 5000)])
        #expect(try await echo(lab, "h2", address))
        try await forwarder.stop()
        try await listener.stop()
        try await lab.stop()
    }

    @Test("lanchat serve", .onlyInAll)
    func lanchat() async throws {
        let lab = try await Lab.start()
        let server = try lab.app("h1", "lanchat", "serve", "--name", "den", "--plain")
        try await server.line { $0.hasPrefix("published ") }
        let requests = ["iam:anna\nmsg:hello\n", "iam:bob\n", "msg:x"].map { Array($0.utf8) }
        try await lab.endEarly("h2", "10.77.0.1:6222", requests: requests)
        let joined = try await lab.bash("h2", "printf 'iam:last\\nmsg:it lives\\n' | nc -N 10.77.0.1 6222")
        #expect(joined.output.contains("last: it lives"), "\(joined)")
        try await server.stop()
        try await lab.stop()
    }

    @Test("lanchat serve, over TLS: within the handshake", .onlyInAll)
    func lanchatHandshake() async throws {
        let lab = try await Lab.start()
        let server = try lab.app("h1", "lanchat", "serve", "--name", "den", "--trust-first")
        try await server.line { $0.hasPrefix("published ") }
        // A record of a handshake, its beginning, and something else.
        let record: [UInt8] = [22, 3, 1, 0, 100, 1, 0, 0, 96, 3, 3] + [UInt8](repeating: 7, count: 94)
        try await lab.endEarly("h2", "10.77.0.1:6222", requests: [record, Array("iam:anna\n".utf8)])
        let last = try lab.app("h2", "lanchat", "join", "den", "--nick", "last", "--trust-first")
        try await last.line(within: .seconds(30)) { $0 == "last has joined" }
        last.write("it lives\n")
        try await server.line { $0 == "last: it lives" }
        last.closeInput()
        #expect(try await last.exit() == .exited(0))
        try await server.stop()
        try await lab.stop()
    }

    @Test("stream-hello serve, listening alone and published", .onlyInAll)
    func streamHello() async throws {
        let lab = try await Lab.start()
        for options in [[], ["--publish", "--port", "9000"]] {
            let server = try lab.exec("h1", [Built.program("stream-hello"), "serve"] + options)
            try await server.line { $0 == "listening on port 9000" }
            // More connections than it serves at a time.
            try await lab.endEarly(
                "h2", "10.77.0.1:9000", rounds: 2000, requests: [Array("Hello Server!\0".utf8)], hold: 400)
            let answer = try await lab.bash("h2", #"printf 'Hello Server!\0' | nc -N 10.77.0.1 9000 | tr -d '\0'"#)
            #expect(answer.output == ["Hello Client!"])
            try await server.stop()
        }
        try await lab.stop()
    }

    @Test("tap-race, which is PeerSession", .onlyInAll)
    func tapRace() async throws {
        let lab = try await Lab.start()
        let one = try lab.app("h1", "tap-race", "--json", "--accept", "--seconds", "1", "--trust-first")
        try await one.line { $0.contains(#""event":"published""#) }
        let published = try #require(one.lines().first { $0.contains(#""event":"published""#) })
        let digits = try #require(published.split(separator: #""port":"#).last).prefix { $0.isNumber }
        try await lab.endEarly(
            "h2", "10.77.0.1:\(digits)",
            requests: [[0, 0, 0, 30] + [UInt8](repeating: 0x41, count: 40), [UInt8](repeating: 0xFF, count: 200)])
        let two = try lab.app("h2", "tap-race", "h1", "--json", "--seconds", "1", "--trust-first")
        for player in [one, two] {
            #expect(try await player.exit(within: .seconds(90)) == .exited(0), "\(player.lines(.stderr))")
        }
        try await lab.stop()
    }

    @Test(
        "games that wait for one opponent: who ends early is none", .onlyInAll, arguments: ["four-in-a-row", "witap"])
    func games(_ game: String) async throws {
        let lab = try await Lab.start()
        let arguments = game == "witap" ? ["--json"] : ["host", "--json"]
        for seed in 1...10 {
            let player = try lab.exec("h1", [Built.program(game)] + arguments)
            try await player.line { $0.contains(#""event":"published""#) }
            let line = try #require(player.lines().first { $0.contains(#""event":"published""#) })
            let digits = try #require(line.split(separator: #""port":"#).last).prefix { $0.isNumber }
            let client = try lab.python(
                "h2", "early_ends.py", ["10.77.0.1:\(digits)", "--rounds", "30", "--seed", "\(seed)"])
            _ = try await client.exit(within: .seconds(60))
            player.signal(SIGTERM)
            // It may have played, and may have ended, but it did not crash.
            let exit = try await player.exit(within: .seconds(20))
            guard case .exited = exit else {
                Issue.record("\(exit) \(player.lines(.stderr))")
                break
            }
        }
        try await lab.stop()
    }

    @Test("the daemon's control socket, over Unix and TCP; it ends in the middle of them as if there were none")
    func daemon() async throws {
        let lab = try await Lab.start()
        let daemon = try await LabDaemon.start(
            on: "h1", of: lab, "browse: [_witap._tcp]\nlisten: {address: \"127.0.0.1:9331\"}\n")
        let requests = [
            "GET /v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n",
            "GET /v1/services/watch?type=_witap._tcp HTTP/1.1\r\nHost: localhost\r\n\r\n",
            "POST /v1/registrations?attached=1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60\r\n\r\n"
                + #"{"name":"early","type":"_witap._tcp","port":80}"#,
        ].map { Array($0.utf8) }
        try await lab.endEarly("h1", LabDaemon.systemSocket, requests: requests)
        try await lab.endEarly("h1", "127.0.0.1:9331", requests: requests)
        #expect(try await daemon.ask("status").exit == .exited(0))
        #expect(try await daemon.curlTCP("http://127.0.0.1:9331/v1/ping").status == 200)
        // Attached registrations went with their connection.
        #expect(try await daemon.registrations().isEmpty)

        let client = try lab.python("h1", "early_ends.py", ["127.0.0.1:9331", "--rounds", "4000"])
        let other = try lab.python("h1", "early_ends.py", [LabDaemon.systemSocket, "--rounds", "4000"])
        #expect(try await daemon.ask("status").exit == .exited(0))
        try daemon.process.signal(SIGTERM)
        #expect(try await daemon.process.exit(within: .seconds(20)) == .exited(0))
        for process in [client, other] { process.signal(SIGKILL) }
        try await lab.stop()
    }

}
