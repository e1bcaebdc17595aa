import Foundation
import Glibc
import Synchronization
import Testing

/// avahi-daemon answers but accepts nothing: because of its configuration, or because it is an impostor.
@Suite("What avahi-daemon refuses", .labSlot)
struct RefusalTests {
    struct Setting: Sendable, CustomTestStringConvertible {
        let section: String
        let line: String
        /// A command with its own connection is refused as well.
        var isForEveryone = true
        /// Services of the daemon that are accepted nevertheless.
        var taken = 0
        /// Services that are refused.
        var refused: Int { 39 - taken }
        var testDescription: String { line }
        var name: String { String(line.prefix { $0 != "=" }) }
    }

    private static let settings = [
        Setting(section: "publish", line: "disable-publishing=yes"),
        Setting(section: "publish", line: "disable-user-service-publishing=yes"),
        Setting(section: "server", line: "objects-per-client-max=1", isForEveryone: false, taken: 1),
        Setting(section: "server", line: "entries-per-entry-group-max=1"),
    ]

    @Test(
        "40 services come back when the setting is gone; meanwhile degraded, and what is new is refused",
        arguments: Everything.of(settings, inAChange: Array(settings[1...2])))
    func refusedAndBack(_ setting: Setting) async throws {
        let lab = try await Lab.start()
        let configured = (1...36).map {
            "  - {name: c\($0), type: _http._tcp, port: 80\($0 + 10), subtypes: [_printer]}"
        }
        let daemon = try await LabDaemon.start(on: "h1", of: lab, "services:\n\(configured.joined(separator: "\n"))\n")
        for name in ["d1", "d2"] {
            let body = "{\"name\":\"\(name)\",\"type\":\"_http._tcp\",\"port\":80,\"subtypes\":[\"_printer\"]}"
            #expect(try await daemon.curl("/v1/registrations", "-d", body).status == 201)
        }
        let publish = [Built.discoverd, "publish", "--type", "_http._tcp", "--subtype", "_printer"]
        let attached = try lab.exec("h1", publish + ["attached", "80"])
        let direct = try lab.exec("h1", publish + ["direct", "80", "--no-daemon"])
        for command in [attached, direct] {
            try await command.line(within: .seconds(20), "published") { $0.hasPrefix("published ") }
        }
        let all = Set((1...36).map { "c\($0)" } + ["d1", "d2", "attached", "direct"])
        try await Self.see(all, in: lab)

        try await lab.configureAvahi("h1", "[\(setting.section)]", setting.line)
        try await lab.avahi("h1", "restart")
        let refused = try await daemon.curl("/v1/status") { answer in
            try answer.objects("registrations").count { $0["retrying"] as? Bool == true } == setting.refused
        }
        #expect(try refused.json()["degraded"] as? Bool == true)
        let reasons = try refused.json()["reasons"] as? [String] ?? []
        #expect(reasons.count == 1 && reasons.first?.contains(setting.name) == true, "\(reasons)")
        #expect(reasons.first?.hasPrefix("\(setting.refused) services are not published") == true, "\(reasons)")
        let health = try await daemon.curl("/healthz")
        #expect(health.status == 503 && health.text.contains(setting.name), "\(health)")
        let metrics = try await daemon.curl("/metrics").text
        #expect(
            metrics.contains("\ndiscoverd_degraded 1\n") && metrics.contains("{state=\"waiting\"} \(setting.refused)\n")
        )

        var new = [["new", "81", "--detach"], ["new", "81"]]
        if setting.isForEveryone { new.append(["new", "81", "--no-daemon"]) }
        for arguments in new {
            let run = try await lab.toEnd("h1", publish + arguments, within: .seconds(20))
            #expect(run.exit == .exited(77), "\(arguments): \(run)")
            #expect(run.failure?.contains("\(setting.name)") == true, "\(arguments): \(run)")
        }
        #expect(try await daemon.registrations().count == 39, "what is refused is not kept")

        // Nor does a daemon that starts now give up its earlier registrations.
        try await daemon.killAndRestart()
        _ = try await daemon.curl("/v1/status") { answer in
            // The command keeps retrying.
            let all = try answer.objects("registrations").filter { $0["origin"] as? String != "attached" }
            // The one allowed object may go to a service, if that is quicker than the daemon's own query.
            return all.count == 38 && all.count { $0["retrying"] as? Bool == true } >= 37
        }
        try await lab.configureAvahi("h1")
        try await lab.avahi("h1", "restart")
        try await Self.see(all, in: lab)
        _ = try await daemon.curl("/v1/status") { answer in
            let all = try answer.objects("registrations")
            return try answer.json()["degraded"] as? Bool == false && all.count == 39
                && all.allSatisfy { $0["state"] as? String == "established" }
        }
        try await attached.stop()
        try await direct.stop()
        try await daemon.stop()
        try await lab.stop()
    }

    /// Waits until the other host finds all of them.
    private static func see(_ names: Set<String>, in lab: Lab) async throws {
        let seen = try lab.exec("h2", ["stdbuf", "-oL", "avahi-browse", "-p", "_http._tcp"])
        let missing = Mutex(names)
        try await seen.line(within: .seconds(90), "all of them") { line in
            missing.withLock { missing in
                if line.hasPrefix("+;") { missing = missing.filter { !line.contains(";\($0);") } }
                return missing.isEmpty
            }
        }
        try await seen.stop()
    }

    /// Kinds of nonsense, and whether a call stays silent instead of failing at once; silence takes time to establish.
    private static let nonsense: [(kind: String, isQuiet: Bool)] = [
        ("paths", false), ("types", false), ("invalid", false), ("states", false), ("silent", true), ("items", true),
    ]

    @Test(
        "a backend that answers nonsense neither ends nor stalls the daemon, and does not count as healthy",
        arguments: Everything.of(nonsense, inAChange: nonsense.filter { ["types", "silent"].contains($0.kind) }))
    func answersNonsense(_ kind: String, _ isQuiet: Bool) async throws {
        let lab = try await Lab.start(hosts: 1, "--no-avahi", "h1")
        let fake = try lab.python("h1", "fake_avahi.py", kind)
        try await fake.line(within: .seconds(20), "READY") { $0 == "READY" }
        let service = "services:\n  - {name: a, type: _http._tcp, port: 80}\nbrowse: [_xy._tcp]\n"
        let daemon = try await LabDaemon.start(on: "h1", of: lab, service)
        let status = try await daemon.curl("/v1/status", within: .seconds(60)) { answer in
            try answer.json()["degraded"] as? Bool == true
        }
        #expect(try status.json()["reasons"] as? [String] != [])
        // A backend that comes and goes is healthy for moments.
        _ = try await daemon.curl("/healthz") { $0.status == 503 }
        // In the meantime it answers, and claims nothing that is not so.
        if !isQuiet {
            let new = try await lab.ask("h1", "publish", "new", "80", "--timeout", "3")
            #expect(new.exit != .exited(0), "\(new)")
        }
        let browsed = try await lab.ask("h1", "browse", "_xy._tcp", "-t", "--no-daemon", "--avahi", "always")
        #expect(browsed.exit == .exited(1) || browsed.exit == .exited(69), "\(browsed)")
        #expect(browsed.output.allSatisfy { $0.utf8.allSatisfy { $0 >= 0x20 || $0 == 9 } }, "\(browsed)")

        // With a real one all is well, without restarting the daemon.
        fake.signal(SIGKILL)
        try await fake.exit()
        try await lab.avahi("h1", "start")
        _ = try await daemon.curl("/v1/status", within: .seconds(60)) { answer in
            try answer.json()["degraded"] as? Bool == false
                && answer.objects("registrations").allSatisfy { $0["state"] as? String == "established" }
        }
        try await daemon.stop()
        try await lab.stop()
    }
}
