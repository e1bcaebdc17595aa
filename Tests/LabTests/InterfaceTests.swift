import Foundation
import Testing

/// Two hosts joined by two links: a service seen on both is still one service.
@Suite("interfaces", .serialized, .labSlot)
struct InterfaceTests {
    /// A second link, added after avahi-daemon has started, as by plugging in a cable.
    static let lab = Task {
        let lab = try await Lab.start()
        // Wait until the link is on the host: before that it is in this machine's own namespace.
        let anchor = try lab.exec("h2", "sh", "-c", "echo there; exec cat")
        try await anchor.line(.stdout, "there") { $0 == "there" }
        try await lab.run(
            "h1", "ip", "link", "add", "eth1", "type", "veth", "peer", "name", "eth1", "netns", String(anchor.pid))
        for (host, address) in [("h1", "10.78.0.1/24"), ("h2", "10.78.0.2/24")] {
            try await lab.run(host, "ip", "addr", "add", address, "dev", "eth1")
            try await lab.run(host, "ip", "link", "set", "eth1", "up")
        }
        return lab
    }

    @Test("one service on two interfaces is one object; patterns choose among them")
    func two() async throws {
        let lab = try await Self.lab.value
        let publisher = try await lab.publish("h1", "tony", "9000", "--type", "_multi._tcp")
        let browser = try lab.discoverd("h2", "browse", "_multi._tcp", "-r", "--json")
        let line = try await browser.json("both interfaces") { line in
            line.service?.interfaces.sorted() == ["eth0", "eth1"] && line.service?.endpoints?.count == 4
        }
        let endpoints = try #require(line.service?.endpoints)
        #expect(line.service?.name == "tony")
        #expect(endpoints.contains { $0.interface == "eth0" && $0.address == "10.77.0.1" })
        #expect(endpoints.contains { $0.interface == "eth1" && $0.address == "10.78.0.1" })
        for name in ["eth0", "eth1"] {
            #expect(endpoints.contains { $0.interface == name && $0.address.hasSuffix("%" + name) })
        }
        #expect(browser.lines().count { $0.contains(#""added""#) } == 1)
        for (pattern, expected) in [
            ("eth0", ["eth0"]), ("*1", ["eth1"]), ("!eth1", ["eth0"]), ("eth*", ["eth0", "eth1"]),
        ] {
            let run = try await lab.ask("h2", "browse", "_multi._tcp", "-t", "--json", "--interface", pattern)
            let services = try run.lines().compactMap(\.service)
            #expect(services.map { $0.interfaces.sorted() } == [expected], "\(pattern): \(run.output)")
        }
        let none = try await lab.ask("h2", "browse", "_multi._tcp", "-t", "--interface", "wlan*")
        #expect(none.exit == .exited(1) && none.output.isEmpty, "\(none)")
        try await browser.stop()
        try await publisher.stop()
    }

    @Test("explain's packets of two interfaces: tshark and tcpdump read them")
    func capture() async throws {
        let lab = try await Self.lab.value
        let publisher = try await lab.publish("h1", "seen", "9000", "--type", "_multi._tcp")
        let path = NSTemporaryDirectory() + "explain-\(UUID().uuidString).pcap"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let run = try await lab.ask("h2", "explain", "seen", "_multi._tcp", "--no-connect", "--pcap", path)
        #expect(run.exit == .exited(0), "\(run)")
        let interfaces = ["tshark", "-n", "-r", path, "-T", "fields", "-e", "frame.interface_name"]
        let tshark = try await lab.toEnd("h2", interfaces, within: .seconds(30))
        #expect(Set(tshark.output).isSuperset(of: ["eth0", "eth1"]), "\(tshark)")
        // As root it becomes another user, which a lab has not.
        let tcpdump = try LabProcess(["/usr/bin/tcpdump", "-n", "-r", path])
        let exit = try await tcpdump.exit(within: .seconds(30))
        #expect(exit == .exited(0) && tcpdump.lines().count == tshark.output.count, "\(tcpdump.lines(.stderr))")
        for address in ["10.77.0.2.5353 >", "10.78.0.2.5353 >"] {
            #expect(tcpdump.lines().contains { $0.contains(address) }, "\(tcpdump.lines())")
        }
        try await publisher.stop()
    }

    @Test("published on one interface, it is not on the other")
    func publishOnOne() async throws {
        let lab = try await Self.lab.value
        let publisher = try await lab.publish("h1", "tony", "9000", "--type", "_only._tcp", "--interface", "eth1")
        let run = try await lab.ask("h2", "wait", "_only._tcp", "--timeout", "8", "--json")
        #expect(try run.services().map(\.interfaces) == [["eth1"]])
        let settled = try await lab.ask("h2", "browse", "_only._tcp", "-t", "--json")
        #expect(try settled.lines().first?.service?.interfaces == ["eth1"])
        try await publisher.stop()
    }

    @Test("an interface that goes takes its addresses along, and not the service", .labLong)
    func unplugged() async throws {
        let lab = try await Self.lab.value
        let publisher = try await lab.publish("h1", "tony", "9000", "--type", "_unplug._tcp")
        let browser = try lab.discoverd("h2", "browse", "_unplug._tcp", "-r", "--json")
        try await browser.json("both interfaces") { $0.service?.interfaces.sorted() == ["eth0", "eth1"] }
        try await lab.run("h2", "ip", "link", "set", "eth1", "down")
        // It may only be a flap: services that our own link hides are kept for 10 s.
        let line = try await browser.json(within: .seconds(15), "one interface") { $0.service?.interfaces == ["eth0"] }
        #expect(line.event == "updated")
        #expect(line.service?.endpoints?.allSatisfy { $0.interface == "eth0" } == true)
        try await lab.run("h2", "ip", "link", "set", "eth1", "up")
        try await browser.json("both again") { $0.service?.interfaces.sorted() == ["eth0", "eth1"] }
        #expect(!browser.lines().contains { $0.contains(#""removed""#) })
        try await browser.stop()
        try await publisher.stop()
    }

    @Test("an address with a label, as of ifupdown or keepalived, is one of its interface, and no interface by itself")
    func labelled() async throws {
        let lab = try await Lab.start()
        try await lab.run("h1", "ip", "addr", "add", "10.77.0.201/24", "dev", "eth0", "label", "eth0:1")
        let publisher = try await lab.publish("h2", "tony", "9000", "--type", "_label._tcp")
        let run = try await lab.ask("h1", "wait", "_label._tcp", "--timeout", "8", "--json")
        #expect(try run.services().map(\.interfaces) == [["eth0"]], "\(run)")
        let settled = try await lab.ask("h1", "browse", "_label._tcp", "-t", "--json")
        #expect(try settled.lines().first?.service?.interfaces == ["eth0"], "\(settled)")
        try await publisher.stop()
        try await lab.stop()
    }

    @Test("without IPv4 addresses everything is found by link-local IPv6")
    func linkLocalOnly() async throws {
        let lab = try await Lab.start(hosts: 2, "--link-local-only")
        let publisher = try await lab.publish("h1", "tony", "9000")
        let run = try await lab.ask("h2", "browse", "_witap._tcp", "-r", "-t", "--json")
        let endpoints = try run.lines().first?.service?.endpoints ?? []
        #expect(
            endpoints.count == 1 && endpoints[0].address.hasPrefix("fe80::") && endpoints[0].address.hasSuffix("%eth0"))
        try await publisher.stop()
        try await lab.stop()
    }
}
