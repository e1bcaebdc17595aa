import Foundation
import Testing

/// filedrop where a fleet's configuration says who is let in, and where others take what they can of it.
@Suite("filedrop, a fleet and a crowd", .labSlot)
struct FileDropCrowdTests {
    private func receive(_ lab: Lab, _ folder: TestFolder) async throws -> LabProcess {
        let receiver = try lab.app("h1", "filedrop", "receive", "\(folder.path)/in", "--name", "anna", "--trust-first")
        try await receiver.line { $0.hasPrefix("published anna") }
        return receiver
    }

    private func send(_ lab: Lab, _ folder: TestFolder, _ file: String, _ options: String = "") async throws -> Lab.Run
    {
        try await lab.bash(
            "h2", "setsid -w \(Built.program("filedrop")) send \(folder.path)/\(file) --to anna \(options)",
            within: .seconds(40))
    }

    @Test(
        "the file trust counts for filedrop as for discoverd: another's key gets no byte, an error lets no one in",
        .onlyInAll)
    func fleet() async throws {
        let lab = try await Lab.start()
        let folder = try TestFolder()
        try folder.makeFile("file", size: 1000)
        let keys = (try await lab.key("h1"), try await lab.key("h2"))
        let receiver = try await receive(lab, folder)
        func trust(_ text: String) async throws {
            _ = try await lab.bash(
                "h2",
                "mkdir -p /var/lib/conf; echo '\(text)' >/var/lib/conf/trust; chmod 644 /var/lib/conf/trust")
        }
        let environment = "XDG_CONFIG_HOME= CONFIGURATION_DIRECTORY=/var/lib/conf"
        func sent() async throws -> Lab.Run {
            try await lab.bash(
                "h2",
                "\(environment) setsid -w \(Built.program("filedrop")) send \(folder.path)/file --to anna",
                within: .seconds(40))
        }
        for (text, status) in [("pin \(keys.1)", 77), ("pine \(keys.0)", 78), ("pin \(keys.0)", 0)] {
            try await trust(text)
            #expect(folder.names("in").isEmpty)
            let run = try await sent()
            #expect(run.exit == .exited(Int32(status)), "\(text): \(run)")
        }
        #expect(folder.isSame("file", "in/file"))
        try await receiver.stop()
        try await lab.stop()
    }

    @Test("connections that say nothing keep no one out, on either port", .onlyInAll)
    func silent() async throws {
        let lab = try await Lab.start(hosts: 3)
        let folder = try TestFolder()
        try folder.makeFile("file", size: 1000)
        let receiver = try await receive(lab, folder)
        let resolved = try await lab.ask("h3", "resolve", "anna", "_x-SNSUpload._tcp", "--json")
        let plain = try #require(try resolved.services().first?.port, "\(resolved)")
        let text = try #require(resolved.output.first?.firstMatch(of: /"port":"(\d+)"/)?.1, "\(resolved)")
        let crowd = try lab.python3(
            "h3",
            """
            import socket, sys
            held = [socket.create_connection(("10.77.0.1", int(port))) for port in sys.argv[1:] for _ in range(40)]
            print("held", flush=True)
            sys.stdin.read()
            """, String(text), "\(plain)")
        try await crowd.line(.stdout, "held") { $0 == "held" }
        let run = try await send(lab, folder, "file", "--trust-first")
        #expect(run.exit == .exited(0) && folder.isSame("file", "in/file"), "\(run)")
        crowd.signal(SIGKILL)
        try await receiver.stop()
        try await lab.stop()
    }

    @Test(
        "strangers who only shake hands keep out no one who is known; another stranger hears that no place is free",
        .onlyInAll)
    func silentStrangers() async throws {
        let lab = try await Lab.start(hosts: 3)
        let folder = try TestFolder()
        for name in ["one", "two"] { try folder.makeFile(name, size: 1000) }
        let keys = (try await lab.key("h1"), try await lab.key("h2"))
        let receiver = try lab.app("h1", "filedrop", "receive", "\(folder.path)/in", "--name", "anna")
        try await receiver.line { $0.hasPrefix("published anna") }
        try await lab.run("h2", Built.discoverd, "known", "add", "anna._x-SNSUpload._tcp.local", keys.0)
        let resolved = try await lab.ask("h3", "resolve", "anna", "_x-SNSUpload._tcp", "--json")
        let port = try #require(resolved.output.first?.firstMatch(of: /"port":"(\d+)"/)?.1, "\(resolved)")
        _ = try await lab.bash(
            "h3", "mkdir /var/lib/p && \(Lab.python) \(Lab.scripts)/tls_peer.py make /var/lib/p evil")
        let crowd = try lab.python("h3", "filedrop_peer.py", ["hold", "10.77.0.1", String(port), "/var/lib/p", "16"])
        try await crowd.line(.stdout, "held") { $0 == "held" }
        let stranger = try await send(lab, folder, "one")
        #expect(stranger.exit == .exited(74), "\(stranger)")
        #expect(stranger.failure?.hasSuffix("the other side: no place is free there; try again") == true, "\(stranger)")
        try await lab.run("h1", Built.discoverd, "known", "add", "@h2", keys.1)
        let known = try await send(lab, folder, "two")
        #expect(known.exit == .exited(0) && folder.isSame("two", "in/two"), "\(known)")
        // Who has not introduced itself after 10 s has had its time.
        try await receiver.line(.stderr, within: .seconds(60), "the silent ones end") {
            $0.contains("the connection ended before")
        }
        crowd.signal(SIGKILL)
        try await receiver.stop()
        try await lab.stop()
    }
}
