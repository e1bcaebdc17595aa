import Foundation
import Glibc
import Testing

/// Where the daemon keeps registrations if it is not told.
@Suite("The daemon's state without --state", .labSlot)
struct StateTests {
    @Test("what was handed over is there after SIGKILL, for root; with --socket only it is not taken")
    func root() async throws {
        let lab = try await Lab.start(hosts: 1)
        let daemon = try LabDaemon(lab, "h1", socket: LabDaemon.systemSocket)
        let arguments = daemon.arguments + ["--avahi", "always"]
        let first = try await daemon.start(arguments: arguments)
        let handed = try await lab.ask("h1", "publish", "kept", "9000", "--detach")
        #expect(handed.exit == .exited(0), "\(handed)")
        let modes = try await lab.run("h1", "stat", "-c", "%a", "/var/lib/discoverd/registrations.json")
        #expect(modes == ["600"])
        first.signal(SIGKILL)
        try await first.exit()
        let second = try await daemon.start(arguments: arguments)
        try await daemon.until("kept", "published again") { $0.state == "established" }

        // A second daemon, with its own socket, has no default place.
        let beside = try LabDaemon(lab, "h1")
        let other = try await beside.start(arguments: beside.arguments + ["--avahi", "always"])
        let refused = try await beside.ask("publish", "lost", "9001", "--detach")
        #expect(refused.exit == .exited(69), "\(refused)")
        #expect(refused.failure?.contains("--state DIRECTORY") == true, "\(refused)")
        #expect(try await beside.registrations().isEmpty)
        try await other.stop()
        try await second.stop()
        try await lab.stop()
    }

    @Test("a user's own daemon keeps it in its home", .enabled(if: geteuid() == 0, "other users need root"))
    func user() async throws {
        let lab = try await Lab.start(hosts: 1, "--users")
        let nobody = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
        for name in ["home", "runtime"] {
            try await lab.run("h1", "install", "-d", "-o", "nobody", "-m", "700", "/run/lab/\(name)")
        }
        for name in ["discoverd", "discoverd-daemon"] {
            try await lab.run(
                "h1", "install", "-D", "-m", "755", Built.program(name), "/run/lab/bin/\(name)")
        }
        let environment = ["HOME": "/run/lab/home", "XDG_RUNTIME_DIR": "/run/lab/runtime", "XDG_STATE_HOME": ""]
        func command(_ arguments: String...) throws -> LabProcess {
            // The lab's own variables come after these.
            let variables = ["env"] + environment.map { "\($0)=\($1)" }
            return try lab.exec("h1", nobody + variables + ["/run/lab/bin/discoverd"] + arguments)
        }
        for round in 1...2 {
            let daemon = try command("daemon", "--avahi", "always")
            try await daemon.line(.stderr, within: .seconds(30), "serving") { $0.contains("serving /run/lab/runtime") }
            if round == 1 {
                let handed = try command("publish", "kept", "9000", "--detach")
                #expect(try await handed.exit() == .exited(0), "\(handed.lines(.stderr))")
            } else {
                let listed = try command("ls")
                try await listed.exit()
                #expect(listed.lines().contains { $0.contains("\tkept\t") }, "\(listed.lines())")
            }
            daemon.signal(SIGKILL)
            try await daemon.exit()
        }
        let files = try await lab.run("h1", "ls", "/run/lab/home/.local/state/discoverd")
        #expect(files.contains("registrations.json"), "\(files)")
        try await lab.stop()
    }
}
