import Foundation
import Testing

/// Scenario 69: discoverd, avahi-daemon and dbus-daemon of both hosts are frozen, as on a sleeping machine.
enum SuspendedMachine {
    static func run(for duration: Duration) async throws {
        let lab = try await Lab.start()
        var (publications, browser, names) = try await lab.published(20)
        let processes = [publications.process, browser.process]
        for process in processes { process.signal(SIGSTOP) }
        for daemon in ["avahi", "dbus"] { for host in ["h1", "h2"] { try await lab.lab(daemon, host, "stop") } }
        let before = (browser.process.lines().count, publications.process.lines().count)
        try await Task.sleep(for: duration)
        for process in processes { process.signal(SIGCONT) }
        for daemon in ["dbus", "avahi"] { for host in ["h1", "h2"] { try await lab.lab(daemon, host, "cont") } }
        let start = ContinuousClock.now
        var late = try lab.publish("late", on: "h1")
        try await late.wait(forEstablished: ["late"], within: .seconds(5))
        try await browser.wait(for: "the late one", within: .seconds(5)) { $0.names == names.union(["late"]) }
        let recovery = start.duration(to: .now)
        try await Task.sleep(for: Lab.hold)
        try browser.catchUp()
        try publications.catchUp()
        #expect(browser.lines.count == before.0 + 1 && publications.lines.count == before.1)
        Figures(
            scenario: "69",
            what: "everything SIGSTOP for \(Int(duration / .seconds(1))) s, 20 services",
            recovery: recovery,
            flaps: browser.count("removed"),
            note: "from CONT until a new service is published and seen"
        ).record()
        try await lab.stop()
    }
}
