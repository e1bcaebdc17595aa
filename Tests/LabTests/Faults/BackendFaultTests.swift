import Foundation
import Testing

extension FaultTests {
    @Suite("Faults of the backend")
    struct BackendFaultTests {
        /// The longest that a removal is held back, and Avahi's own second.
        private static let hold = Duration.milliseconds(4_500)

        @Test("1: avahi-daemon SIGKILL and back after 1 s, 100 services of one process")
        func killed() async throws {
            let lab = try await Lab.start()
            var (publications, browser, names) = try await lab.published(100)
            try await lab.avahi("h1", "kill")
            try await publications.wait(for: "the loss noticed", within: .seconds(2)) { $0.established.isEmpty }
            try await Task.sleep(for: .seconds(1))
            try await lab.avahi("h1", "start")
            let recovery = try await publications.wait(forEstablished: names, within: .seconds(3))
            try await Task.sleep(for: Self.hold)
            try await lab.sentinel(&browser)
            #expect(browser.count("removed") == 0 && browser.names.isSuperset(of: names))
            Figures(
                scenario: "1",
                what: "avahi-daemon SIGKILL, back after 1 s, 100 services",
                recovery: recovery,
                flaps: browser.count("removed")
            ).record()
            try await lab.stop()
        }

        @Test("1: the same with ten publish commands")
        func killedUnderCommands() async throws {
            let lab = try await Lab.start()
            var commands = try (0..<10).map { try lab.publish("c-\($0)", on: "h1") }
            var browser = try lab.browse(on: "h2", "-r")
            let names = Set((0..<10).map { "c-\($0)" })
            try await browser.wait(for: "all seen", within: .seconds(10)) { $0.names == names }
            try await lab.avahi("h1", "kill")
            try await Task.sleep(for: .seconds(1))
            try await lab.avahi("h1", "start")
            let start = ContinuousClock.now
            for index in commands.indices {
                try await commands[index].wait(for: "back", within: .seconds(3)) { log in
                    log.lines.count { $0.state == "established" } == 2
                }
            }
            let recovery = start.duration(to: .now)
            #expect(recovery < .seconds(3))
            try await Task.sleep(for: Self.hold)
            try await lab.sentinel(&browser)
            #expect(browser.count("removed") == 0)
            Figures(
                scenario: "1",
                what: "the same, 10 `publish` commands",
                recovery: recovery,
                flaps: browser.count("removed")
            ).record()
            for command in commands { command.process.signal(SIGTERM) }
            for command in commands { #expect(try await command.process.exit() == .exited(0)) }
            try await lab.stop()
        }
    }
}
