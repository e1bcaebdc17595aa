import Foundation
import Testing

/// The programs on a machine without avahi-daemon.
@Suite("programs without a backend", .labSlot)
struct BackendTests {
    @Test(
        "every program that browses or publishes reports it, with advice, and ends with 69",
        arguments: [
            ["stream-hello", "serve", "--publish"], ["stream-hello", "browse"], ["lanchat", "serve"],
            ["lanchat", "join"],
            ["filedrop", "receive", "."], ["filedrop", "send", "/etc/hostname"], ["witap", "--json"], ["tap-race"],
            ["four-in-a-row", "host"], ["four-in-a-row", "join"],
        ])
    func absent(_ command: [String]) async throws {
        let lab = try await Self.lab.value
        let folder = try TestFolder()
        let program = ([AppBinary.path(command[0])] + command.dropFirst()).joined(separator: " ")
        let process = try lab.exec("h1", "/bin/bash", "-c", "cd \(folder.path) && exec \(program) --backend system")
        #expect(try await process.exit(within: .seconds(60)) == .exited(69))
        #expect(process.lines(.stderr).contains { $0.hasPrefix("\(command[0]): error: no mDNS backend") })
        #expect(process.lines(.stderr).contains { $0.contains("apt install avahi-daemon") })
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
