import Foundation
import Testing

/// This machine's name on the link: lost to others, and taken again; and what others can forge of this machine. h1 has no avahi-daemon.
@Suite("this machine's name on the link", .labSlot)
struct HostNameTests {
    private func publish(_ name: String, _ port: String, _ lab: Lab) throws -> LabProcess {
        try lab.exec("h1", [Built.discoverd, "publish", name, port, "--json", "--avahi", "never"])
    }

    /// Waits until another host resolves a service to a host.
    private func wait(for browser: LabProcess, _ name: String, at host: String, within limit: Duration) async throws {
        try await browser.line(.stdout, within: limit, "\(name) at \(host)") { text in
            guard let service = try? Line(text).service else { return false }
            return service.name == name && service.host == host
        }
    }

    private func browser(_ lab: Lab) throws -> LabProcess {
        try lab.discoverd("h2", "browse", "_witap._tcp", "-r", "--json", "--no-daemon", "--finder", "wire")
    }

    @Test(
        "another host's: the next one; once nobody has it, it is this machine's again within 80 s, and no service ends",
        .labLong)
    func returns() async throws {
        let lab = try await Lab.start("--no-avahi", "h1")
        let other = try lab.exec("h2", ["avahi-publish", "-a", "-R", "h1.local", "10.77.0.9"])
        try await other.line(.stderr, "established") { $0.contains("Established") }
        let publisher = try publish("tony", "9000", lab)
        try await publisher.json("established") { $0.state == "established" }
        let browser = try browser(lab)
        try await wait(for: browser, "tony", at: "h1-2.local", within: .seconds(10))
        let avahi = try lab.exec("h2", ["stdbuf", "-oL", "avahi-browse", "-p", "_witap._tcp"])
        try await avahi.line(.stdout, "seen") { $0.hasPrefix("+;eth0;IPv4;tony;") }
        let goodbyes = try lab.python("h2", "goodbyes.py", "eth0", "h1-2.local")
        try await goodbyes.line { $0 == "ready" }
        other.signal(SIGTERM)
        try await other.exit()
        try await wait(for: browser, "tony", at: "h1.local", within: .seconds(85))
        try await goodbyes.line { $0 == "h1-2.local" }
        let seen = try await lab.run("h2", "avahi-browse", "-rtp", "_witap._tcp")
        #expect(seen.contains { $0.hasPrefix("=;eth0;IPv4;tony;") && $0.contains(";h1.local;") }, "\(seen)")
        #expect(!browser.lines().contains { $0.contains(#""removed""#) }, "\(browser.lines())")
        #expect(!avahi.lines().contains { $0.hasPrefix("-;") }, "\(avahi.lines())")
        for process in [avahi, goodbyes] { process.signal(SIGTERM) }
        try await browser.stop()
        try await publisher.stop()
        try await lab.stop()
    }

    @Test(
        "one denial at the right moment: the second program of the machine has another name, and soon the first one's")
    func converges() async throws {
        let lab = try await Lab.start("--no-avahi", "h1")
        let first = try publish("tony", "9000", lab)
        try await first.json("established") { $0.state == "established" }
        let browser = try browser(lab)
        try await wait(for: browser, "tony", at: "h1.local", within: .seconds(10))
        let thief = try lab.python("h2", "deny.py", "h1.local", "1")
        try await thief.line { $0 == "READY" }
        let second = try publish("eve", "9001", lab)
        try await second.json("established") { $0.state == "established" }
        try await wait(for: browser, "eve", at: "h1-2.local", within: .seconds(10))
        try await wait(for: browser, "eve", at: "h1.local", within: .seconds(20))
        #expect(!browser.lines().contains { $0.contains(#""removed""#) }, "\(browser.lines())")
        thief.signal(SIGTERM)
        try await browser.stop()
        for process in [second, first] { try await process.stop() }
        try await lab.stop()
    }

    @Test(
        "a link goes while the first name is asked for there: the others decide, and the machine has one name", .labLong
    )
    func linkGoes() async throws {
        let lab = try await Lab.start(hosts: 3, "--no-avahi", "h1")
        for (host, address) in [("h1", "10.78.0.1/24"), ("h3", "10.78.0.3/24")] {
            try await lab.lab("link", host, "eth1", address)
        }
        let thief = try lab.python("h2", "deny.py", "h1.local", "1")
        try await thief.line { $0 == "READY" }
        let publisher = try publish("tony", "9000", lab)
        try await publisher.json("established") { $0.state == "established" }
        let browser = try browser(lab)
        try await wait(for: browser, "tony", at: "h1-2.local", within: .seconds(10))
        // It is asked for after a minute and more.
        let rival = try lab.python("h3", "outbid.py", "eth1", "h1.local")
        try await rival.line { $0 == "READY" }
        try await rival.line(.stdout, within: .seconds(80), "asked for") { $0 == "probe" }
        let resolved = try await lab.ask("h2", "resolve", "h1.local", "--no-daemon", "--timeout", "5")
        #expect(resolved.exit == .exited(0), "established on eth0: \(resolved)")
        try await lab.lab("unlink", "h1", "eth1")
        try await wait(for: browser, "tony", at: "h1.local", within: .seconds(10))
        for process in [thief, rival] { process.signal(SIGTERM) }
        try await browser.stop()
        try await publisher.stop()
        try await lab.stop()
    }

    @Test("every name of the machine is denied: that is said, and not that the service's is contested")
    func contested() async throws {
        let lab = try await Lab.start("--no-avahi", "h1")
        let thief = try lab.python("h2", "deny.py", "h1*.local")
        try await thief.line { $0 == "READY" }
        let publisher = try publish("tony", "9000", lab)
        let line = try await publisher.line(.stdout, within: .seconds(20), "denied") { $0.contains(#""conflicted""#) }
        #expect(line.contains("this machine has no name yet"), "\(line)")
        thief.signal(SIGTERM)
        try await publisher.stop()
        try await lab.stop()
    }

    @Test("who races each question in frames to the publisher alone hides nothing from a new list")
    func raced() async throws {
        let lab = try await Lab.start(hosts: 3, "--no-avahi", "h1", "--no-avahi", "h2")
        let publisher = try publish("tony", "9000", lab)
        try await publisher.json("established") { $0.state == "established" }
        let link = try await lab.run("h1", "ip", "-o", "link", "show", "eth0").joined()
        let mac = try #require(link.firstMatch(of: /link\/ether ([0-9a-f:]+)/)?.output.1)
        let pointer = #"[{"name":"_witap._tcp.local","type":"PTR","target":"tony._witap._tcp.local","ttl":4500}]"#
        let racer = try lab.python("h3", "forge.py", "--to", String(mac), "--rate", "100", pointer)
        try await racer.line { $0 == "ready" }
        try await lab.avahi("h2", "start")
        // Its question is the first of a new list: the answers to it go to the group.
        let browser = try lab.exec("h2", ["stdbuf", "-oL", "avahi-browse", "-p", "_witap._tcp"])
        try await browser.line(.stdout, within: .seconds(10), "tony") { $0.hasPrefix("+;eth0;IPv4;tony;") }
        browser.signal(SIGTERM)
        racer.signal(SIGTERM)
        try await publisher.stop()
        try await lab.stop()
    }

    @Test("a response that is forged in this machine's name does not keep the host's addresses from ending")
    func forgedCompany() async throws {
        let lab = try await Lab.start("--no-avahi", "h1")
        let publisher = try publish("tony", "9000", lab)
        try await publisher.json("established") { $0.state == "established" }
        let addresses = try await lab.run("h1", "ip", "-o", "-6", "address", "show", "dev", "eth0").joined(
            separator: "\n")
        let own = try #require(addresses.firstMatch(of: /inet6 (fe80[0-9a-f:]+)/)?.output.1)
        let pointer = #"[{"name":"_other._tcp.local","type":"PTR","target":"x._other._tcp.local","ttl":4500}]"#
        let forger = try lab.python("h2", "forge.py", "--from", String(own), "--rate", "20", pointer)
        try await forger.line { $0 == "ready" }
        let seen = try await lab.ask("h1", "wait", "_other._tcp", "--timeout", "10", "--no-daemon", "--finder", "wire")
        #expect(seen.exit == .exited(0), "it has come: \(seen)")
        let goodbyes = try lab.python("h2", "goodbyes.py", "eth0", "h1.local")
        try await goodbyes.line { $0 == "ready" }
        try await publisher.stop()
        try await goodbyes.line(.stdout, "a goodbye") { $0 == "h1.local" }
        for process in [forger, goodbyes] { process.signal(SIGTERM) }
        try await lab.stop()
    }
}
