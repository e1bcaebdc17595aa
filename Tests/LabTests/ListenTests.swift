import Foundation
import Testing

/// `discoverd listen` and `discoverd forward` in the lab.
@Suite("Listening and forwarding", .labSlot)
struct ListenTests {
    private var discoverd: String { Built.discoverd }
    /// Enough to fill every buffer between two hosts many times.
    private static let size = ProcessInfo.processInfo.environment["TRANSFER_BYTES"].flatMap(Int.init) ?? 50_000_000

    @Test(
        "bytes of any kind, 50 MB unless TRANSFER_BYTES says, go through listen, connect and forward and back, and are the same"
    )
    func transfer() async throws {
        let lab = try await Lab.start()
        let listener = try lab.exec("h1", discoverd, "listen", "files", "0", "--", "cat")
        try await listener.line { $0.hasPrefix("published files._witap._tcp.local port ") }
        try await compare(lab, "h2", "\(discoverd) connect files")

        let forwarder = try lab.exec("h2", discoverd, "forward", "0", "files", "--json")
        let port = try await self.port(of: forwarder)
        for address in ["127.0.0.1", "[::1]"] {
            try await compare(lab, "h2", "socat -t 20 - TCP:\(address):\(port)")
        }
        forwarder.signal(SIGTERM)
        #expect(try await forwarder.exit() == .exited(0))

        let browser = try lab.exec("h2", discoverd, "browse", "_witap._tcp", "--json")
        try await browser.line { $0.contains(#""event":"added""#) }
        listener.signal(SIGINT)
        #expect(try await listener.exit() == .exited(0))
        // Seconds, not the record's 75 minutes: the goodbye was sent.
        try await browser.line { $0.contains(#""event":"removed""#) }
        browser.signal(SIGTERM)
        try await lab.stop()
    }

    @Test("without a program the first connection is joined to standard input and output, and the name is withdrawn")
    func joined() async throws {
        let lab = try await Lab.start()
        let listener = try lab.exec("h1", discoverd, "listen", "chat", "9000")
        try await listener.line(.stderr) { $0.contains("published chat._witap._tcp.local port 9000") }
        // An independent program, over IPv4: the socket serves both families.
        let caller = try lab.exec("h2", "nc", "-N", "10.77.0.1", "9000")
        caller.write("from h2\n")
        try await listener.line { $0 == "from h2" }
        listener.write("from h1\n")
        try await caller.line { $0 == "from h1" }
        caller.closeInput()
        listener.closeInput()
        #expect(try await caller.exit() == .exited(0))
        #expect(try await listener.exit() == .exited(0))
        try await lab.stop()
    }

    @Test("a name that is taken is changed; a port that is taken is an error, and so is a program that is not there")
    func refusals() async throws {
        let lab = try await Lab.start()
        let first = try lab.exec("h1", discoverd, "listen", "tony", "9000", "--", "cat")
        try await first.line { $0.contains("published") }
        let second = try lab.exec("h2", discoverd, "listen", "tony", "9000", "--", "cat")
        try await second.line { $0.contains("published tony #2") || $0.contains("published tony\\032#2") }
        let taken = try lab.exec("h1", discoverd, "listen", "anna", "9000", "--", "cat")
        #expect(try await taken.exit() == .exited(71))
        #expect(taken.lines(.stderr).contains { $0.contains("cannot listen on port 9000") })
        let missing = try lab.exec("h1", discoverd, "listen", "anna", "--", "no-such-program")
        #expect(try await missing.exit() == .exited(127))
        for process in [first, second] { process.signal(SIGTERM) }
        try await lab.stop()
    }

    @Test("a program that cannot be started costs its connection: the others go on, and so do later ones")
    func programIsGone() async throws {
        let lab = try await Lab.start()
        let program = "/var/lib/answer"
        let made = try await lab.bash(
            "h1", "printf '#!/bin/sh\\necho served; exec cat\\n' >\(program); chmod 755 \(program)")
        #expect(made.exit == .exited(0), "\(made)")
        let listener = try lab.exec("h1", discoverd, "listen", "one", "9000", "--", program)
        try await listener.line { $0.contains("published") }
        let first = try lab.exec("h2", "nc", "-N", "10.77.0.1", "9000")
        try await first.line { $0 == "served" }
        try await lab.run("h1", "mv", program, "\(program).away")
        let refused = try await lab.bash("h2", "nc -N 10.77.0.1 9000 </dev/null", within: .seconds(10))
        #expect(refused.output.isEmpty, "\(refused)")
        try await listener.line(.stderr) { $0.hasSuffix("a connection was refused: \(program): no such program") }
        first.write("still there\n")
        try await first.line { $0 == "still there" }
        try await lab.run("h1", "mv", "\(program).away", program)
        let last = try await lab.bash("h2", "nc -N 10.77.0.1 9000 </dev/null", within: .seconds(10))
        #expect(last.output == ["served"], "\(last)")
        first.closeInput()
        listener.signal(SIGTERM)
        #expect(try await listener.exit() == .exited(0))
        try await lab.stop()
    }

    @Test("at most --max programs at a time: the next connection waits for a place")
    func bounded() async throws {
        let lab = try await Lab.start()
        let listener = try lab.exec("h1", discoverd, "listen", "one", "9000", "--max", "1", "--", "cat")
        try await listener.line { $0.contains("published") }
        let first = try lab.exec("h2", "nc", "-N", "10.77.0.1", "9000")
        first.write("first\n")
        try await first.line { $0 == "first" }
        let second = try lab.exec("h2", "nc", "-N", "10.77.0.1", "9000")
        second.write("second\n")
        await #expect(throws: LabProcess.Missed.self) { try await second.line(within: .milliseconds(300)) }
        first.closeInput()
        try await second.line { $0 == "second" }
        second.closeInput()
        listener.signal(SIGTERM)
        #expect(try await listener.exit() == .exited(0))
        try await lab.stop()
    }

    @Test("after 100 connections that could not be made nothing is left: no descriptor, no thread")
    func nothingIsLeft() async throws {
        let lab = try await Lab.start()
        let publisher = try lab.exec("h1", "avahi-publish", "-s", "dead", "_witap._tcp", "9000")
        try await publisher.line(.stderr, "established") { $0.contains("Established") }
        let forwarder = try lab.exec("h2", discoverd, "forward", "0", "dead", "--json", "-q")
        let port = try await self.port(of: forwarder)
        // The first calls create what stays: the connection to avahi-daemon, and the pool's threads.
        try await call(lab, port, times: 10)
        let before = try resources(of: forwarder)
        try await call(lab, port, times: 90)
        // And to a host that does not answer at all.
        try await lab.firewall("h1", "tcp dport 9000 drop")
        try await call(lab, port, times: 10)
        let after = try await eventually(within: .seconds(10), "no more descriptors than before") {
            let now = try resources(of: forwarder)
            return now.descriptors <= before.descriptors ? now : nil
        }
        // The pool's threads come and go; a leak of ours would be a hundred.
        #expect(after.threads <= before.threads + 8)
        forwarder.signal(SIGTERM)
        publisher.signal(SIGTERM)
        #expect(try await forwarder.exit() == .exited(0))
        try await lab.stop()
    }
}

extension ListenTests {
    private struct Forwarding: Decodable { let port: Int }

    private func port(of forwarder: LabProcess) async throws -> Int {
        let line = try await forwarder.line { $0.hasPrefix(#"{"v":1,"event":"forwarding""#) }
        return try JSONDecoder().decode(Forwarding.self, from: Data(line.utf8)).port
    }

    /// Sends random bytes through a command that echoes them, and compares.
    private func compare(_ lab: Lab, _ host: String, _ command: String) async throws {
        let script = """
            set -e; file=$(mktemp); trap 'rm -f $file' EXIT; head -c \(Self.size) /dev/urandom >$file
            \(command) <$file | cmp - $file
            """
        try await lab.run(host, "bash", "-o", "pipefail", "-c", script, within: .seconds(60 + Self.size / 5_000_000))
    }

    /// Connects to a port repeatedly, each time waiting until the other side has closed the connection.
    private func call(_ lab: Lab, _ port: Int, times: Int) async throws {
        let script = """
            import socket
            for _ in range(\(times)):
                s = socket.create_connection(("127.0.0.1", \(port)))
                try:
                    assert s.recv(1) == b""
                except ConnectionResetError:
                    pass
            """
        try await lab.run("h2", "/usr/bin/python3", "-c", script, within: .seconds(60))
    }

    private struct Resources {
        let descriptors: Int
        let threads: Int
    }

    private func resources(of process: LabProcess) throws -> Resources {
        let files = FileManager.default
        return Resources(
            descriptors: try files.contentsOfDirectory(atPath: "/proc/\(process.pid)/fd").count,
            threads: try files.contentsOfDirectory(atPath: "/proc/\(process.pid)/task").count
        )
    }
}
