import Foundation
import Glibc
import Testing

/// Which local user may do what; the kernel identifies them.
@Suite(
    "The daemon and ordinary users", .labSlot,
    .enabled(if: geteuid() == 0, "a lab with more than one user needs root"))
struct DaemonAccessTests {
    /// Both exist in Debian.
    private static let (user, other) = ("nobody", "daemon")

    private struct Person {
        let lab: Lab
        let name: String
        let program: String

        func discoverd(_ arguments: String...) async throws -> Lab.Run { try await discoverd(arguments) }
        func discoverd(_ arguments: [String]) async throws -> Lab.Run { try await run([program] + arguments) }

        func curl(_ arguments: String...) async throws -> String {
            let options = ["-sS", "--max-time", "30", "-w", "\n%{http_code}", "--unix-socket", LabDaemon.systemSocket]
            return try await run(["/usr/bin/curl"] + options + arguments).output.joined(separator: "\n")
        }

        /// Starts a command that keeps running.
        func start(_ arguments: String...) throws -> LabProcess {
            try lab.exec("h1", becoming + [program] + arguments)
        }

        private var becoming: [String] { ["setpriv", "--reuid=\(name)", "--regid=nogroup", "--clear-groups"] }

        private func run(_ arguments: [String]) async throws -> Lab.Run {
            try await lab.toEnd("h1", becoming + arguments, within: .seconds(40))
        }
    }

    @Test("without rules anyone publishes as long as a command runs, as without a daemon; the rest needs rights")
    func attached() async throws {
        let lab = try await Lab.start("--users")
        let daemon = try await LabDaemon.start(on: "h1", of: lab, "limits: {services-per-user: 2}\n")
        try await lab.run("h1", "install", "-D", "-m", "755", Built.discoverd, "/run/lab/bin/discoverd")
        let nobody = Person(lab: lab, name: Self.user, program: "/run/lab/bin/discoverd")
        let seen = try lab.exec("h2", ["stdbuf", "-oL", "avahi-browse", "-p", "_witap._tcp"])

        let tony = try nobody.start("publish", "tony", "9000")
        try await tony.line(within: .seconds(20), "published") { $0.hasPrefix("published ") }
        let files = try nobody.start("listen", "files", "--", "/bin/cat")
        for name in ["tony", "files"] {
            try await seen.line(within: .seconds(20), name) { $0.hasPrefix("+;") && $0.contains(";\(name);") }
        }
        let listed = try await daemon.curl("/v1/registrations").objects("registrations")
        #expect(Set(listed.compactMap { $0["name"] as? String }) == ["tony", "files"], "the daemon publishes them")
        #expect(listed.allSatisfy { $0["uid"] as? Int == 65_534 && $0["origin"] as? String == "attached" })

        let third = try await nobody.discoverd("publish", "third", "9002", "--timeout", "20")
        #expect(third.exit == .exited(77), "\(third)")
        #expect(third.failure?.contains("2 services of one user at most") == true, "\(third)")
        let body = #"{"name":"third","port":9002}"#
        let quota = try await nobody.curl("-d", body, "http://localhost/v1/registrations?attached=1")
        #expect(quota.hasSuffix("\n429"), "\(quota)")

        try await tony.stop()
        try await seen.line(within: .seconds(20), "tony's end") { $0.hasPrefix("-;") && $0.contains(";tony;") }
        for check in ["exec:/bin/true", "unit:a.service", "pid:1"] {
            let refused = try await nobody.discoverd("publish", "checked", "9003", "--check", check, "--timeout", "20")
            #expect(refused.exit == .exited(77), "\(refused)")
        }
        let detached = try await nobody.discoverd("publish", "tony", "9000", "--detach")
        #expect(detached.exit == .exited(77), "\(detached)")
        #expect(detached.failure?.contains("for longer than a command runs") == true, "\(detached)")
        let zone = #"{"name":"tony","port":9000,"domain":"example.org"}"#
        let foreign = try await nobody.curl("-d", zone, "http://localhost/v1/registrations?attached=1")
        #expect(foreign.hasSuffix("\n403"), "\(foreign)")
        #expect(try await nobody.discoverd("reload").exit == .exited(77))

        // A rule removes the permission, and the refusal says what remains allowed.
        try daemon.configure("access: {attached: rules}\n")
        #expect(try await daemon.curl("/v1/reload", "-X", "POST").status == 204)
        let denied = try await nobody.discoverd("publish", "tony", "9000", "--timeout", "20")
        #expect(denied.exit == .exited(77), "\(denied)")
        #expect(denied.failure?.contains("--socket none") == true, "\(denied)")
        let direct = try nobody.start("publish", "direct", "9000", "--no-daemon")
        try await direct.line(within: .seconds(20), "published") { $0.hasPrefix("published ") }
        try await direct.stop()
        try await files.stop()
        try await seen.stop()
        try await daemon.stop()
        try await lab.stop()
    }

    @Test("a user who publishes more than the daemon has connections for publishes the rest without it")
    func many() async throws {
        let lab = try await Lab.start("--users")
        let daemon = try await LabDaemon.start(on: "h1", of: lab, "limits: {clients-per-user: 4}\n")
        try await lab.run("h1", "install", "-D", "-m", "755", Built.discoverd, "/run/lab/bin/discoverd")
        let nobody = Person(lab: lab, name: Self.user, program: "/run/lab/bin/discoverd")
        let seen = try lab.exec("h2", ["stdbuf", "-oL", "avahi-browse", "-p", "_witap._tcp"])
        var commands: [LabProcess] = []
        for number in 1...6 {
            let command = try nobody.start("publish", "game \(number)", "900\(number)")
            try await command.line(within: .seconds(20), "published") { $0.hasPrefix("published ") }
            commands.append(command)
        }
        let without = commands.count { $0.lines(.stderr).contains { $0.contains("without it") } }
        let listed = try await daemon.curl("/v1/registrations").objects("registrations").count
        #expect(without == 3 && listed == 3, "\(without) without the daemon, \(listed) with it")
        for command in commands { try await command.stop() }
        for number in 1...6 {
            try await seen.line(within: .seconds(20), "the end") {
                $0.hasPrefix("-;") && $0.contains("\(number);_witap")
            }
        }
        try await seen.stop()
        try await daemon.stop()
        try await lab.stop()
    }

    @Test("anyone browses; publishing needs a rule; another's service stays; quotas are by user")
    func users() async throws {
        let lab = try await Lab.start("--users")
        let configuration = """
            access:
              allow: [{user: \(Self.user), types: [_http._tcp]}, {user: \(Self.other), types: "*"}]
            limits: {services-per-user: 2}

            """
        let daemon = try await LabDaemon.start(on: "h1", of: lab, configuration)
        // Others may have no access to the sources' directory.
        try await lab.run("h1", "install", "-D", "-m", "755", Built.discoverd, "/run/lab/bin/discoverd")
        let nobody = Person(lab: lab, name: Self.user, program: "/run/lab/bin/discoverd")
        let other = Person(lab: lab, name: Self.other, program: "/run/lab/bin/discoverd")
        let tony = try await lab.avahiPublish("h2", "tony", "_witap._tcp", "9000")

        let listed = try await nobody.discoverd("wait", "_witap._tcp", "--timeout", "20")
        #expect(listed.exit == .exited(0) && listed.output.first?.contains("tony") == true)
        #expect(try await nobody.discoverd("status").exit == .exited(0))

        for extra in [["--detach"], []] {
            let denied = try await nobody.discoverd(["publish", "game", "9000", "--timeout", "20"] + extra)
            #expect(denied.exit == .exited(77), "\(denied)")
            let said = denied.errors.joined(separator: "\n")
            #expect(said.contains("user nobody may not publish _witap._tcp") && said.contains("the group discoverd"))
            #expect(said.contains("allow: [{user: nobody, types: [_witap._tcp]}]"), "\(said)")
        }
        let allowed = try await nobody.discoverd("publish", "web", "80", "--type", "_http._tcp", "--detach")
        #expect(allowed.exit == .exited(0), "\(allowed)")
        let reload = try await nobody.discoverd("reload")
        #expect(reload.exit == .exited(77) && reload.failure?.contains("nobody") == true, "\(reload)")

        // Another user who may publish everything must not withdraw it; its owner may.
        let foreign = try await other.discoverd("unpublish", "web", "_http._tcp")
        #expect(foreign.exit == .exited(77), "\(foreign)")
        #expect(foreign.failure?.contains("belongs to another user (\(65_534))") == true, "\(foreign)")
        let mine = try await daemon.curl("/v1/registrations", "-d", #"{"name":"root","port":7}"#)
        let id = try #require(try mine.json()["id"] as? String)
        let refused = try await nobody.curl("-X", "DELETE", "http://localhost/v1/registrations/\(id)")
        #expect(refused.hasSuffix("\n403"), "\(refused)")

        for (name, status) in [("a", "201"), ("b", "429")] {
            let body = "{\"name\":\"\(name)\",\"type\":\"_http._tcp\",\"port\":80}"
            let answer = try await nobody.curl("-d", body, "http://localhost/v1/registrations")
            #expect(answer.hasSuffix("\n\(status)"), "\(answer)")
        }
        let theirs = try await other.discoverd("publish", "theirs", "80", "--detach")
        #expect(theirs.exit == .exited(0), "the quota of one is not another's: \(theirs)")
        // Checks run with the daemon's own rights, so only its own user may request them.
        let check = #"{"name":"c","type":"_http._tcp","port":80,"check":"exec:/bin/true"}"#
        let exec = try await other.curl("-d", check, "http://localhost/v1/registrations")
        #expect(exec.hasSuffix("\n403") || exec.hasSuffix("\n429"), "\(exec)")

        let own = try await nobody.discoverd("unpublish", "web", "_http._tcp")
        #expect(own.exit == .exited(0), "\(own)")
        #expect(try await daemon.curl("/v1/registrations/\(id)", "-X", "DELETE").status == 204)
        tony.signal(SIGTERM)
        try await daemon.stop()
        try await lab.stop()
    }
}
