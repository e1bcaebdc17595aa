import Foundation
import Testing

/// Transfers of filedrop over TLS that the other side breaks off, at each point of the protocol: with an end of TLS, of TCP alone, and a reset.
@Suite("filedrop's transfers that are broken off", .labSlot)
struct FileDropEarlyEndTests {
    private static let peer = "\(Lab.python) \(Lab.scripts)/filedrop_peer.py"
    private static let hows = ["close", "end", "reset"]

    private func identity(_ lab: Lab, _ host: String) async throws -> String {
        let made = try await lab.bash(
            host, "mkdir /var/lib/p && \(Lab.python) \(Lab.scripts)/tls_peer.py make /var/lib/p evil")
        #expect(made.exit == .exited(0), "\(made)")
        return "/var/lib/p"
    }

    private func points(_ lab: Lab, _ role: String) async throws -> [String] {
        let points = try await lab.bash("h1", "\(Self.peer) points \(role)").output
        try #require(points.count > 5)
        return points
    }

    /// What has its final name, below a folder.
    private func complete(_ folder: TestFolder, _ path: String) -> [String] {
        folder.names(path).filter { !$0.hasPrefix(".filedrop-") }
    }

    @Test("a sender breaks off: no file has its name, the receiver says so, and takes the next one", .onlyInAll)
    func sender() async throws {
        let lab = try await Lab.start()
        let folder = try TestFolder()
        try folder.makeFile("good", size: 1000)
        let receiver = try lab.exec(
            "h1", [Built.program("filedrop"), "receive", "\(folder.path)/in", "--name", "anna", "--trust-first"],
            environment: ["XDG_STATE_HOME": "\(folder.path)/state-h1"])
        try await receiver.line { $0.hasPrefix("published anna") }
        let resolved = try await lab.ask("h2", "resolve", "anna", "_x-SNSUpload._tcp", "--json")
        guard case .text(let port) = try #require(try resolved.services().first?.txt?["port"] ?? nil) else { return }
        let evil = try await identity(lab, "h2")
        let broken = try await lab.bash("h2", "\(Self.peer) call 10.77.0.1 \(port) \(evil)")
        #expect(broken.exit == .exited(0) && broken.output == ["done"], "\(broken)")
        let sent = try await lab.bash(
            "h2",
            "XDG_STATE_HOME=\(folder.path)/state-h2 \(Built.program("filedrop")) send \(folder.path)/good --trust-first"
        )
        #expect(sent.exit == .exited(0), "\(sent)")
        #expect(complete(folder, "in") == ["good"])
        try await receiver.stop()
        let said = receiver.lines(.stderr).filter { $0.hasPrefix("filedrop: 10.77.0.2:") }
        // More are counted, not shown, so that nobody fills a log.
        #expect(said.count >= Self.hows.count * 6, "\(said)")
        let reasons = [
            "the connection ended before everything was through", "the connection broke: ", "no TLS 1.3 with",
        ]
        #expect(said.allSatisfy { line in reasons.contains { line.contains($0) } }, "\(said)")
        // Where it was is known also of who has reset its connection.
        #expect(!receiver.lines(.stderr).contains { $0.hasPrefix("filedrop: ?") })
        #expect(receiver.lines().filter { $0.hasPrefix("received ") }.count == 1)
        try await lab.stop()
    }

    @Test(
        "a receiver, or who offers a file, breaks off: 74, a reason, and no word of a file that was not confirmed",
        .onlyInAll,
        arguments: ["receive", "offer"])
    func other(_ role: String) async throws {
        let lab = try await Lab.start()
        let folder = try TestFolder()
        try folder.makeFile("file", size: 1_000_000)
        let evil = try await identity(lab, "h1")
        let type = role == "receive" ? "_x-SNSUpload._tcp" : "_x-SNSDownload._tcp"
        let service = try await lab.avahiPublish("h1", "bob", type, "9000", "filedrop=3", "port=9000", "tls=1")
        let command = role == "receive" ? "send \(folder.path)/file --to bob" : "fetch bob \(folder.path)/got"
        for point in try await points(lab, role) {
            for how in Self.hows {
                let peer = try lab.python("h1", "filedrop_peer.py", ["answer", "9000", evil, role, point, how])
                try await peer.line { $0 == "ready" }
                let run = try await lab.bash(
                    "h2",
                    "XDG_STATE_HOME=\(folder.path)/state setsid -w \(Built.program("filedrop")) \(command) --trust-first"
                )
                let what = "\(point), \(how): \(run)"
                #expect(run.exit == .exited(74), "\(what)")
                #expect(
                    run.failure?.contains("the connection ") == true && run.failure?.contains("Shutdown") == false,
                    "\(what)")
                #expect(run.output.isEmpty || point == "complete", "\(what)")
                peer.signal(SIGKILL)
                _ = try await peer.exit()
            }
        }
        #expect(complete(folder, "got").isEmpty)
        service.signal(SIGTERM)
        try await lab.stop()
    }
}
