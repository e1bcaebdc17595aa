import Foundation
import Testing

/// Found on the wire: what responders say that others wrote.
@Suite("other responders, found on the wire", .labSlot)
struct OtherRespondersTests {
    private static let browse = ["browse", "_witap._tcp", "-r", "--json", "--no-daemon", "--finder", "wire"]
    private static let onH1 =
        #"{"instance":"twin","type":"_witap._tcp","host":"twin","txt":["path=/x"],"addresses":["10.77.0.1"]}"#
    private static let onH3 = onH1.replacing("10.77.0.1", with: "10.77.0.3")

    private func browser(_ lab: Lab) throws -> LabProcess { try lab.exec("h2", [Built.discoverd] + Self.browse) }

    /// It is found, resolved, and by its name too; then nothing more is told of it.
    private func found(_ lab: Lab, by browser: LabProcess) async throws {
        let line = try await browser.json(within: .seconds(20), "tony") {
            $0.service?.name == "tony" && $0.service?.state == "resolved"
        }
        let service = try #require(line.service)
        #expect(service.port == 9000 && service.txt == ["path": .text("/x")], "\(service)")
        #expect(Set((service.endpoints ?? []).map(\.family)) == ["ipv4", "ipv6"], "\(service)")
        #expect(service.endpoints?.contains { $0.address == "10.77.0.1" } == true, "\(service)")
        let resolved = try await lab.ask(
            "h2", "resolve", "tony", "_witap._tcp", "--json", "--no-daemon", "--finder", "wire")
        #expect(resolved.exit == .exited(0), "\(resolved.errors)")
        #expect(try resolved.services().first?.host == service.host)
    }

    @Test("avahi-daemon: found, resolved, its goodbye told")
    func avahi() async throws {
        let lab = try await Lab.start()
        let browser = try browser(lab)
        let publisher = try await lab.avahiPublish("h1", "tony", "_witap._tcp", "9000", "path=/x")
        try await found(lab, by: browser)
        publisher.signal(SIGTERM)
        try await ended(browser)
        try await lab.stop()
    }

    @Test("python-zeroconf: found, resolved, its goodbye told")
    func zeroconf() async throws {
        let lab = try await Lab.start("--no-avahi", "h1")
        let browser = try browser(lab)
        let text = Data("path=/x".utf8).base64EncodedString()
        let publisher = try lab.python("h1", "zc_publish.py", "tony", "_witap._tcp", "9000", "[\"\(text)\"]")
        try await found(lab, by: browser)
        publisher.signal(SIGTERM)
        try await ended(browser)
        try await lab.stop()
    }

    @Test(
        "a type that no one may publish: what --all lists can be asked for, by every command that looks, and of a daemon"
    )
    func brokenType() async throws {
        let lab = try await Lab.start("--no-avahi", "h1")
        let type = "_ibisip_http._tcp"
        let bus = #"{"instance":"bus","type":"\#(type)","host":"bus","txt":["a=b"],"addresses":["10.77.0.1"]}"#
        let list = #"{"name":"_services._dns-sd._udp.local","type":"PTR","target":"\#(type).local"}"#
        let injector = try await lab.inject(
            "h1", "{\"services\":[\(bus)],\"records\":[\(list)]}", ["--interval", "0.4"])
        let all = try await lab.ask("h2", "browse", "--all", "-t")
        #expect(all.output.contains { $0.contains(type) }, "\(all)")
        let daemon = try await LabDaemon.start(on: "h2", of: lab)
        for command in [
            ["browse", type, "-t"], ["browse", type, "-t", "--socket", daemon.socket], ["resolve", "bus", type],
            ["resolve", "bus.\(type).local"], ["wait", type, "--timeout", "10"],
        ] {
            let run = try await lab.toEnd("h2", [Built.discoverd] + command, within: .seconds(20))
            #expect(run.exit == .exited(0) && run.output.contains { $0.contains("bus") }, "\(command): \(run)")
            #expect(run.errors.contains { $0.contains("RFC 6335") && $0.contains("all the same") }, "\(run)")
        }
        let dialled = try await lab.ask("h2", "connect", "bus", type, "--probe")
        #expect(dialled.failure?.contains("10.77.0.1") == true, "\(dialled)")
        #expect(dialled.errors.contains { $0.contains("RFC 6335") }, "\(dialled)")
        let explained = try await lab.ask("h2", "explain", "bus", type, "--no-connect")
        #expect(explained.exit == .exited(0), "\(explained)")
        try await daemon.stop()
        try await injector.stop()
        try await lab.stop()
    }

    @Test("systemd-resolved: found, resolved, and again when it was started anew", .enabled(if: Lab.resolved != nil))
    func resolved() async throws {
        let lab = try await Lab.start("--no-avahi", "h1")
        var seen: LabProcess?
        for _ in 0..<2 {
            let publisher = try lab.exec(
                "h1", "\(Lab.scripts)/resolved.sh", try #require(Lab.resolved), "publish", "tony", "_witap._tcp",
                "9000",
                "path=/x")
            // It is asked for by its name when it answers, not when it is remembered.
            try await publisher.line(.stderr, within: .seconds(20), "its host name") { $0.contains("system hostname") }
            // Not before: a browse that hears no announcement asks after 1, 3, 9 and 27 s.
            if seen == nil {
                let browser = try browser(lab)
                try await found(lab, by: browser)
                seen = browser
            }
            let asked = try await lab.ask(
                "h2", "resolve", "tony", "_witap._tcp", "--json", "--no-daemon", "--finder", "wire", "--timeout", "10")
            #expect(asked.exit == .exited(0), "\(asked.errors)")
            publisher.signal(SIGTERM)
            #expect(try await publisher.exit() == .exited(0))
        }
        // No goodbye was said, so that no end is told either.
        let browser = try #require(seen)
        #expect(!browser.lines().contains { $0.contains(#""event":"removed""#) }, "\(browser.lines())")
        try await browser.stop()
        try await lab.stop()
    }

    @Test("two hosts answer for one service and one host name: both addresses; one of them goes: the service stays")
    func twins() async throws {
        let lab = try await Lab.start(["--hosts", "3", "--no-avahi", "h1", "--no-avahi", "h3"], environment: [:])
        let browser = try browser(lab)
        // Each says its own before the other's would be forgotten (RFC 6762 §10.2: a second after the flush).
        let first = try await lab.inject("h1", "{\"services\":[\(Self.onH1)]}", ["--interval", "0.4"])
        let second = try await lab.inject("h3", "{\"services\":[\(Self.onH3)]}", ["--interval", "0.4"])
        try await browser.json("both") { Self.addresses($0) == ["10.77.0.1", "10.77.0.3"] }
        first.signal(SIGTERM)
        #expect(try await first.exit() == .exited(0))
        // Its goodbye is for the other's service as well, who says at once that it is still there (§10.1).
        try await browser.json("the one that stays") { Self.addresses($0) == ["10.77.0.3"] }
        let events = try browser.lines().map { try Line($0) }
        #expect(events.count { $0.event == "added" } == 1 && !events.contains { $0.event == "removed" }, "\(events)")
        second.signal(SIGTERM)
        try await browser.json("removed") { $0.tells("removed", "twin") }
        try await browser.stop()
        try await lab.stop()
    }

    private static func addresses(_ line: Line) -> Set<String> { Set((line.service?.endpoints ?? []).map(\.address)) }

    /// The end is told, and was the only one.
    private func ended(_ browser: LabProcess) async throws {
        try await browser.json("removed") { $0.tells("removed", "tony") }
        let events = try browser.lines().map { try Line($0) }.filter { $0.service?.name == "tony" }
        #expect(events.count { $0.event == "added" } == 1 && events.count { $0.event == "removed" } == 1, "\(events)")
        try await browser.stop()
    }
}
