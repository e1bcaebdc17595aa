import Foundation
import Testing

/// A host without avahi-daemon and D-Bus: discoverd answers by itself. What others publish and find is avahi-daemon's and python-zeroconf's.
@Suite("publishing on the wire", .labSlot)
struct WirePublisherTests {
    private func lab() async throws -> Lab { try await Lab.start("--no-avahi", "h1") }

    private func publish(_ name: String, _ port: String, _ lab: Lab, _ options: String...) throws -> LabProcess {
        try lab.exec("h1", [Built.discoverd, "publish", name, port, "--json", "--avahi", "never"] + options)
    }

    private func browser(_ lab: Lab, _ type: String = "_witap._tcp") throws -> LabProcess {
        try lab.exec("h2", ["stdbuf", "-oL", "avahi-browse", "-p", type])
    }

    @Test(
        "found by avahi-daemon by type, subtype, name and address, and by python-zeroconf; gone a second after SIGTERM")
    func found() async throws {
        let lab = try await lab()
        let publisher = try publish("tony", "9000", lab, "--txt", "path=/x", "--subtype", "_printer")
        try await publisher.json("established") { $0.state == "established" }
        for type in ["_witap._tcp", "_printer._sub._witap._tcp"] {
            let seen = try await lab.run("h2", "avahi-browse", "-rtp", type)
            #expect(
                seen.contains {
                    $0.hasPrefix("=;eth0;IPv4;tony;") && $0.contains(";h1.local;") && $0.hasSuffix(#";9000;"path=/x""#)
                },
                "\(seen)")
        }
        #expect(try await lab.run("h2", "avahi-resolve", "-n", "h1.local") == ["h1.local\t10.77.0.1"])
        #expect(try await lab.run("h2", "avahi-resolve", "-a", "10.77.0.1") == ["10.77.0.1\th1.local"])
        let zeroconf = try await Zeroconf.find("tony", "_witap._tcp", on: "h2", of: lab)
        #expect(zeroconf.port == 9000 && zeroconf.strings == [Array("path=/x".utf8)], "\(zeroconf)")

        let browser = try browser(lab)
        try await browser.line(.stdout, "seen") { $0.hasPrefix("+;eth0;IPv4;tony;") }
        try await publisher.stop()
        let ended = ContinuousClock.now
        try await browser.line(.stdout, "gone") { $0.hasPrefix("-;eth0;IPv4;tony;") }
        #expect(ContinuousClock.now - ended < .seconds(3))
        browser.signal(SIGTERM)
        try await lab.stop()
    }

    @Test(
        "two commands of one host: one host name; the second name is another; when the first is killed or ends, nobody hears of the other"
    )
    func two() async throws {
        let lab = try await lab()
        let first = try publish("tony", "9000", lab)
        try await first.json("established") { $0.state == "established" }
        let second = try publish("tony", "9001", lab)
        try await second.json("established") { $0.state == "established" && $0.name == "tony #2" }
        let third = try publish("eve", "9002", lab)
        try await third.json("established") { $0.state == "established" }
        let browser = try browser(lab)
        while browser.lines().count(where: { $0.hasPrefix("+;eth0;IPv4;") }) < 3 {
            try await browser.line(.stdout, "another") { $0.hasPrefix("+;eth0;IPv4;") }
        }
        first.signal(SIGKILL)
        try await first.exit()
        try await third.stop()
        try await browser.line(.stdout, "eve is gone") { $0.hasPrefix("-;eth0;IPv4;eve;") }
        let seen = try await lab.run("h2", "avahi-browse", "-rtp", "_witap._tcp")
        #expect(
            seen.contains {
                $0.hasPrefix(#"=;eth0;IPv4;tony\032\0352;"#) && $0.contains(";h1.local;") && $0.contains(";9001;")
            },
            "\(seen)")
        #expect(!browser.lines().contains { $0.hasPrefix("-;") && $0.contains("0352") }, "\(browser.lines())")
        try await second.stop()
        browser.signal(SIGTERM)
        try await lab.stop()
    }

    @Test("beside python-zeroconf, which was on the port first: both find and are found")
    func besideAnother() async throws {
        let lab = try await lab()
        let other = try lab.python("h1", "zc_publish.py", "other", "_witap._tcp", "1")
        try await other.line(.stdout, within: .seconds(20), "ready") { $0.hasPrefix("ready") }
        let publisher = try publish("tony", "9000", lab)
        try await publisher.json("established") { $0.state == "established" }
        let seen = try await lab.ask("h2", "wait", "_witap._tcp", "--count", "2", "--timeout", "10")
        #expect(seen.exit == .exited(0), "\(seen)")
        try await publisher.stop()
        other.signal(SIGTERM)
        try await lab.stop()
    }

    @Test("a tunnel's peer is told nothing, unless a pattern names it")
    func tunnel() async throws {
        let lab = try await lab()
        let device = "ip tuntap add dev tun9 mode tun && ip address add 10.99.0.1 peer 10.99.0.2 dev tun9"
        let made = try await lab.bash("h1", "\(device) && ip link set tun9 up")
        try #require(made.exit == .exited(0), "\(made)")
        let publisher = try publish("tony", "9000", lab)
        try await publisher.json("established") { $0.state == "established" }
        func groups() async throws -> String {
            try await lab.run("h1", "ip", "maddress", "show", "dev", "tun9").joined(separator: "\n")
        }
        #expect(try await !groups().contains("224.0.0.251"))
        let named = try publish("eve", "9001", lab, "--interface", "tun9")
        try await named.json("established") { $0.state == "established" }
        #expect(try await groups().contains("224.0.0.251"))
        for process in [named, publisher] { try await process.stop() }
        try await lab.stop()
    }

    @Test("a name that another host has: the next one, or 73 where none is wanted")
    func taken() async throws {
        let lab = try await lab()
        let other = try await lab.avahiPublish("h2", "tony", "_witap._tcp", "1")
        let publisher = try publish("tony", "9000", lab)
        try await publisher.json("established") { $0.state == "established" && $0.name == "tony #2" }
        let refused = try publish("tony", "9001", lab, "--on-conflict", "fail")
        #expect(try await refused.exit(within: .seconds(10)) == .exited(73))
        try await publisher.stop()
        other.signal(SIGTERM)
        try await lab.stop()
    }

    @Test("a host of that name is there: another one is taken, and found")
    func hostTaken() async throws {
        let lab = try await lab()
        let other = try lab.exec("h2", ["avahi-publish", "-a", "-R", "h1.local", "10.77.0.9"])
        try await other.line(.stderr, "established") { $0.contains("Established") }
        let publisher = try publish("tony", "9000", lab)
        try await publisher.json("established") { $0.state == "established" }
        let seen = try await lab.run("h2", "avahi-browse", "-rtp", "_witap._tcp")
        #expect(
            seen.contains { $0.hasPrefix("=;eth0;IPv4;tony;") && $0.contains(";h1-2.local;") }, "\(seen)"
        )
        try await publisher.stop()
        other.signal(SIGTERM)
        try await lab.stop()
    }

    @Test("the machine gets another name: its services point to it, and none is gone")
    func renamed() async throws {
        let lab = try await lab()
        let publisher = try publish("tony", "9000", lab)
        try await publisher.json("established") { $0.state == "established" }
        let browser = try lab.discoverd("h2", "browse", "_witap._tcp", "-r", "--json")
        try await browser.line(.stdout, "tony") { $0.contains("h1.local") }
        try await lab.run("h1", "hostname", "other")
        try await browser.line(.stdout, "the new host") { $0.contains("other.local") && $0.contains("10.77.0.1") }
        #expect(!browser.lines().contains { $0.contains(#""removed""#) }, "\(browser.lines())")
        try await browser.stop()
        try await publisher.stop()
        try await lab.stop()
    }

    @Test(
        "a thousand services of one process, beside a command of its host: all seen elsewhere, and the link hears the end of all"
    )
    func thousand() async throws {
        let lab = try await lab()
        var browser = try lab.browse(on: "h2")
        let start = ContinuousClock.now
        let program = try lab.exec(
            "h1", [Built.program("PublishMany"), "1000", "s", Lab.type, "9000"], environment: ["LAB_PUBLISHER": "wire"])
        var publications = PublishLog(lab.keep(program))
        let names = Lab.names(1000)
        try await publications.wait(forEstablished: names, within: .seconds(20))
        let established = ContinuousClock.now - start
        try await browser.wait(for: "all seen", within: .seconds(20)) { $0.names == names }
        let seen = ContinuousClock.now - start
        // A browser without a processor loses some: a goodbye is said once.
        let goodbyes = try await lab.goodbyes(of: Lab.type, on: "h2")
        program.closeInput()
        let closed = ContinuousClock.now
        try await program.exit(within: .seconds(10))
        let ended = ContinuousClock.now
        try await goodbyes.wait(for: names, silence: .seconds(10))
        print(
            "1000 services: established \(established), seen \(seen), ended \(ended - closed), said \(ContinuousClock.now - ended)"
        )
        try await lab.stop()
    }

    @Test("the daemon: --avahi never publishes what it is handed, and another TXT record is no end")
    func daemon() async throws {
        let lab = try await lab()
        let daemon = try LabDaemon(lab, "h1", socket: LabDaemon.systemSocket)
        try daemon.configure("")
        _ = try await daemon.start("--avahi", "never")
        let made = try await lab.ask("h1", "publish", "shop", "80", "--type", "_http._tcp", "--txt", "a=1", "--detach")
        #expect(made.exit == .exited(0), "\(made)")
        let browser = try browser(lab, "_http._tcp")
        try await browser.line(.stdout, "shop") { $0.hasPrefix("+;eth0;IPv4;shop;") }
        #expect(try await lab.ask("h1", "update", "shop", "--txt", "a=2").exit == .exited(0))
        let seen = try await lab.ask("h2", "query", "shop._http._tcp.local", "TXT")
        #expect(seen.output.first?.contains(#""a=2""#) == true, "\(seen)")
        #expect(!browser.lines().contains { $0.hasPrefix("-;") })
        try await daemon.stop()
        try await browser.line(.stdout, "gone") { $0.hasPrefix("-;eth0;IPv4;shop;") }
        browser.signal(SIGTERM)
        try await lab.stop()
    }
}
