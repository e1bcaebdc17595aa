import Foundation
import Glibc
import Testing

/// status, /healthz and /metrics agree, and for as long as it lasts.
@Suite("What the daemon says of its health", .labSlot)
struct DaemonHealthTests {
    private func expect(_ daemon: LabDaemon, degraded: String?, within limit: Duration = .seconds(40)) async throws {
        let status = try await daemon.curl("/v1/status", within: limit) { answer in
            let reasons = try answer.json()["reasons"] as? [String] ?? []
            return degraded.map { text in reasons.contains { $0.contains(text) } } ?? reasons.isEmpty
        }
        #expect(try status.json()["degraded"] as? Bool == (degraded != nil))
        let health = try await daemon.curl("/healthz")
        #expect(health.status == (degraded == nil ? 200 : 503), "\(health)")
        if let degraded { #expect(health.text.contains(degraded), "\(health)") }
        let metrics = try await daemon.curl("/metrics").text
        #expect(metrics.contains("\ndiscoverd_degraded \(degraded == nil ? 0 : 1)\n"))
    }

    @Test("a cache that is full, and has room again", .onlyInAll, .labLong)
    func cache() async throws {
        let lab = try await Lab.start()
        let daemon = try await LabDaemon.start(on: "h1", of: lab, "finder: avahi\nbrowse: [_many._tcp]\n")
        try await expect(daemon, degraded: nil)
        let crowd = try lab.exec("h2", [Lab.publishMany, "1000", "many", "_many._tcp"])
        try await expect(daemon, degraded: "cache may be full", within: .seconds(90))
        let lines = try await daemon.curl("/v1/services?type=_many._tcp&format=lines").text
        #expect(lines.hasPrefix(#"{"v":1,"event":"degraded""#))
        crowd.signal(SIGTERM)
        try await crowd.exit()
        try await expect(daemon, degraded: nil, within: .seconds(90))
        let after = try await daemon.curl("/v1/services?type=_many._tcp&format=lines").text
        #expect(!after.contains("degraded"), "\(after)")
        try await daemon.stop()
        try await lab.stop()
    }

    @Test("an avahi-daemon that hangs, and goes on; restarts are counted")
    func hung() async throws {
        let lab = try await Lab.start(hosts: 1)
        let daemon = try await LabDaemon.start(on: "h1", of: lab)
        try await expect(daemon, degraded: nil)
        try await lab.avahi("h1", "stop")
        try await expect(daemon, degraded: "does not answer")
        try await lab.avahi("h1", "cont")
        try await expect(daemon, degraded: nil)
        for count in 1...2 {
            try await lab.avahi("h1", "restart")
            try await expect(daemon, degraded: nil)
            _ = try await daemon.curl("/metrics") { $0.text.contains("\ndiscoverd_backend_restarts_total \(count)\n") }
        }
        try await daemon.stop()
        try await lab.stop()
    }

    @Test("a name whose probes are all denied is conflicted within 10 s, and published when that is over")
    func denied() async throws {
        let lab = try await Lab.start()
        let thief = try lab.python("h2", "deny.py", "_http._tcp")
        try await thief.line(within: .seconds(20), "READY") { $0 == "READY" }
        let start = ContinuousClock.now
        let daemon = try await LabDaemon.start(
            on: "h1", of: lab, "services:\n  - {name: a, type: _http._tcp, port: 80}\n")
        _ = try await daemon.curl("/v1/registrations") { answer in
            let one = try answer.objects("registrations").first
            return one?["state"] as? String == "conflicted" && one?["retrying"] as? Bool == true
                && (one?["reason"] as? String)?.contains("are taken") == true
        }
        #expect(start.duration(to: .now) < .seconds(10), "a machine under load may take longer")
        try await expect(daemon, degraded: "are taken")
        thief.signal(SIGKILL)
        try await thief.exit()
        try await expect(daemon, degraded: nil, within: .seconds(60))
        #expect(try await daemon.registrations().first?.state == "established")
        try await daemon.stop()
        try await lab.stop()
    }
}
