import Foundation
import Testing

/// The programs on a machine without avahi-daemon.
@Suite("programs without a backend", .labSlot)
struct BackendTests {
    @Test(
        "every program that publishes reports it, with advice, and ends with 69",
        arguments: [
            ["stream-hello", "serve", "--publish"], ["lanchat", "serve"], ["filedrop", "receive", "."],
            ["witap", "--json"], ["tap-race"], ["four-in-a-row", "host"],
        ])
    func absent(_ command: [String]) async throws {
        let lab = try await Self.lab.value
        let folder = try TestFolder()
        let program = ([Built.program(command[0])] + command.dropFirst()).joined(separator: " ")
        let process = try lab.exec("h1", "/bin/bash", "-c", "cd \(folder.path) && exec \(program) --avahi always")
        #expect(try await process.exit(within: .seconds(60)) == .exited(69))
        #expect(
            process.lines(.stderr).contains { $0.hasPrefix("\(command[0]): error: nothing finds or publishes here") })
        #expect(process.lines(.stderr).contains { $0.contains("apt install avahi-daemon") })
    }

    @Test("what only finds goes on: it needs no avahi-daemon")
    func finds() async throws {
        let lab = try await Lab.start("--no-avahi", "h1")
        let server = try lab.app("h2", "stream-hello", "serve", "--publish")
        let browser = try lab.app("h1", "stream-hello", "browse", "--avahi", "always")
        try await browser.line(within: .seconds(20), "found") { $0.hasPrefix("found") }
        #expect(browser.lines(.stderr).isEmpty, "\(browser.lines(.stderr))")
        for process in [browser, server] { try await process.stop() }
        try await lab.stop()
    }

    @Test(
        "every program prints its version and its help",
        arguments: ["stream-hello", "lanchat", "filedrop", "four-in-a-row", "witap", "tap-race"])
    func help(_ name: String) async throws {
        let lab = try await Self.lab.value
        let version = try await lab.askApp("h1", name, "--version")
        #expect(version.exit == .exited(0))
        #expect(version.output.count == 1 && version.output.first?.hasPrefix("\(name) 0.") == true)
        let help = try await lab.askApp("h1", name, "--help")
        #expect(help.exit == .exited(0))
        #expect(help.output.contains { $0.hasPrefix("USAGE: \(name)") })
    }

    private static let lab = Task { try await Lab.start(hosts: 1, "--no-avahi", "h1") }
}
