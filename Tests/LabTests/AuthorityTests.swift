import Foundation
import Testing

/// `--ca` and the configuration file `trust`, with certificates that openssl made.
@Suite("TLS with a certificate authority", .labSlot)
struct AuthorityTests {
    private static let state = "/var/lib/discoverd-root"
    private static let tool = "\(Lab.python) \(Lab.scripts)/authority.py"
    /// Hosts have their own /var/lib: the authority's files are where all see them.
    private let folder: String

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "fleet-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    /// Gives a host an identity of the authority `ca`, made if need be.
    private func issue(_ lab: Lab, _ host: String, _ name: String, _ options: String = "", ca: String = "ca")
        async throws
    {
        let authority = "\(folder)/\(ca)"
        let run = try await lab.bash(
            host,
            """
            set -e; umask 022
            [ -e \(authority)/ca.pem ] || \(Self.tool) make \(authority)
            mkdir -p \(Self.state)
            \(Self.tool) issue \(authority) \(Self.state)/issued \(name) \(options)
            cp -p \(Self.state)/issued/identity.pem \(Self.state)/identity.pem
            """)
        try #require(run.exit == .exited(0), "\(run)")
    }

    private func listen(_ lab: Lab, _ options: String...) async throws -> LabProcess {
        let program = ["listen", "tony", "--type", "_witap._tcp", "--tls", "--ca", "\(folder)/ca/ca.pem"] + options
        let process = try lab.exec("h1", [Built.discoverd] + program + ["--", "cat"])
        try await process.line(.stdout, "published") { $0.contains("published ") }
        return process
    }

    private func say(_ lab: Lab, _ options: String = "") async throws -> Lab.Run {
        let ca = options.contains("--ca ") ? "" : "--ca \(folder)/ca/ca.pem"
        return try await lab.bash("h2", "echo hello | setsid -w $discoverd connect tony --tls \(ca) \(options)")
    }

    @Test("who is certified for the name talks, also through an intermediate authority; nothing needs to be known")
    func certified() async throws {
        let lab = try await Lab.start()
        try await issue(lab, "h1", "tony", "--through middle")
        try await issue(lab, "h2", "anna")
        let server = try await listen(lab)
        let good = try await say(lab)
        #expect(good.exit == .exited(0) && good.output == ["hello"], "\(good)")
        #expect(try await lab.ask("h2", "known").output.isEmpty)
        // A name of the machine, for the service has another.
        let named = try await say(lab, "--ca-name h1.example.org")
        #expect(named.exit == .exited(77) && named.failure?.contains("for another name") == true, "\(named)")
        try await server.stop()
        try await issue(lab, "h1", "h1", "--dns h1.example.org --dns other.example.org")
        let again = try await listen(lab, "--ca-name", "anna")
        #expect(try await say(lab, "--ca-name h1.example.org").output == ["hello"])
        let wrong = try await say(lab)
        #expect(wrong.exit == .exited(77) && wrong.output.isEmpty, "\(wrong)")
        try await again.stop()
        let strict = try await listen(lab, "--ca-name", "tim")
        let refused = try await say(lab, "--ca-name h1.example.org")
        #expect(refused.exit == .exited(77) && refused.output.isEmpty, "\(refused)")
        try await strict.line(.stderr, "another name") { $0.contains("the certificate of @anna is for another name") }
        try await strict.stop()
        try await lab.stop()
    }

    @Test(
        "a foreign authority, an expired certificate, one for servers alone, an intermediate that is none, and a self-signed one are refused",
        .onlyInAll
    )
    func refused() async throws {
        let lab = try await Lab.start()
        try await issue(lab, "h1", "tony")
        let server = try await listen(lab)
        let cases = [
            ("anna", "", "foreign", "not one that the certificate authority vouches for"),
            ("anna", "--end 210101000000Z", "ca", "has expired"),
            ("anna", "--usage serverAuth", "ca", "not one that the certificate authority vouches for"),
            ("anna", "--through middle --plain-issuer", "ca", "not one that the certificate authority vouches for"),
        ]
        for (name, options, ca, reason) in cases {
            try await issue(lab, "h2", name, options, ca: ca)
            let run = try await say(lab)
            #expect(run.exit == .exited(77) && run.output.isEmpty, "\(options) \(run)")
            try await server.line(.stderr, reason) { $0.contains("a connection was refused") && $0.contains(reason) }
        }
        try await lab.run("h2", "rm", "\(Self.state)/identity.pem")
        #expect(try await say(lab).exit == .exited(77))
        try await server.stop()
        // The same of who is dialled.
        try await issue(lab, "h2", "anna")
        let expected = [
            "not one that the certificate authority", "has expired", "not one that the certificate authority",
        ]
        for ((options, ca), reason) in zip(
            [("", "foreign"), ("--end 210101000000Z", "ca"), ("--usage clientAuth", "ca")], expected)
        {
            try await issue(lab, "h1", "tony", options, ca: ca)
            let server = try await listen(lab)
            let run = try await say(lab)
            #expect(run.exit == .exited(77) && run.failure?.contains(reason) == true, "\(options) \(run)")
            try await server.stop()
        }
        try await lab.stop()
    }

    @Test("the configuration says it for all commands; what is wrong there lets no one in", .onlyInAll)
    func configured() async throws {
        let lab = try await Lab.start()
        try await issue(lab, "h1", "tony")
        try await issue(lab, "h2", "anna")
        let server = try await listen(lab)
        let connect =
            "export CONFIGURATION_DIRECTORY=/var/lib/conf; echo hello | setsid -w $discoverd connect tony --tls"
        func configure(_ text: String) async throws -> Lab.Run {
            try await lab.bash(
                "h2",
                "mkdir -p /var/lib/conf; printf '\(text)\\n' >/var/lib/conf/trust; chmod 644 /var/lib/conf/trust; \(connect)"
            )
        }
        let good = try await configure("# ours\\nca \(folder)/ca/ca.pem")
        #expect(good.exit == .exited(0) && good.output == ["hello"], "\(good)")
        let wrong = try await configure("ca \(folder)/ca/ca.pem\\nname h1.example.org")
        #expect(wrong.exit == .exited(77) && wrong.output.isEmpty, "\(wrong)")
        for (text, reason) in [
            ("cats \(folder)/ca/ca.pem", "/var/lib/conf/trust: line 1: neither"),
            ("ca /nowhere", "/nowhere: No such file"),
            ("ca /etc/hostname", "there is no certificate"),
        ] {
            let run = try await configure(text)
            #expect(run.exit == .exited(78) && run.failure?.contains(reason) == true, "\(run)")
        }
        let key = try await lab.ask("h1", "identity").output.first?.split(separator: "\t").first.map(String.init)
        let pinned = try await configure("pin \(try #require(key))")
        #expect(pinned.exit == .exited(0) && pinned.output == ["hello"], "\(pinned)")
        let other = try await configure("pin SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU")
        #expect(other.exit == .exited(77) && other.output.isEmpty, "\(other)")
        try await server.stop()
        try await lab.stop()
    }

    @Test("the programs take an authority's file, as discoverd does")
    func programs() async throws {
        let lab = try await Lab.start()
        try await issue(lab, "h1", "den")
        try await issue(lab, "h2", "anna")
        let room = try lab.app("h1", "lanchat", "serve", "--name", "den", "--trust", "\(folder)/ca/ca.pem")
        try await room.line(.stdout, "published") { $0.contains("published den.") }
        func join(_ options: String = "") async throws -> Lab.Run {
            let words = "join den --nick anna --trust \(folder)/ca/ca.pem \(options)"
            return try await lab.bash("h2", "echo hello | \(Built.program("lanchat")) \(words)")
        }
        let good = try await join()
        #expect(good.exit == .exited(0) && good.output.contains("anna has joined"), "\(good)")
        #expect(try await lab.ask("h2", "known").output.isEmpty)
        let named = try await join("--trust name=h1.example.org")
        #expect(named.exit == .exited(77) && named.failure?.contains("for another name") == true, "\(named)")
        #expect(try await join("--trust first").exit == .exited(64))
        try await issue(lab, "h2", "anna", ca: "foreign")
        let foreign = try await join()
        #expect(foreign.exit != .exited(0) && !foreign.output.contains("anna has joined"), "\(foreign)")
        try await room.stop()
        try await lab.stop()
    }

    @Test(
        "an authority that cannot be read, and an identity whose certificate is another key's, are status 78",
        .onlyInAll)
    func unusable() async throws {
        let lab = try await Lab.start()
        try await issue(lab, "h1", "tony")
        try await issue(lab, "h2", "anna")
        let server = try await listen(lab)
        let missing = try await say(lab, "--ca /nowhere.pem")
        #expect(missing.exit == .exited(78) && missing.failure?.contains("/nowhere.pem") == true, "\(missing)")
        let open = try await lab.bash("h2", "cp \(folder)/ca/ca.pem /var/lib/ca.pem; chmod 666 /var/lib/ca.pem")
        #expect(open.exit == .exited(0))
        let writable = try await say(lab, "--ca /var/lib/ca.pem")
        #expect(
            writable.exit == .exited(78) && writable.failure?.contains("another user may write it") == true,
            "\(writable)")
        let mixed = try await lab.bash(
            "h2",
            """
            cd \(Self.state); openssl ecparam -name prime256v1 -genkey -noout >identity.pem; cat issued/cert.pem >>identity.pem
            echo hello | setsid -w $discoverd connect tony --tls --ca \(folder)/ca/ca.pem
            """)
        #expect(mixed.exit == .exited(78) && mixed.output.isEmpty, "\(mixed)")
        try await server.stop()
        try await lab.stop()
    }
}
