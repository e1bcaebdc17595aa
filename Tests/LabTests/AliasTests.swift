import Foundation
import Testing

/// Further names of a machine, as programs that others wrote see them on another host.
@Suite("aliases", .labSlot)
struct AliasTests {
    /// Who publishes on h1.
    enum Publisher: String, CaseIterable, CustomTestStringConvertible, Sendable {
        /// discoverd itself.
        case own
        case avahi

        var testDescription: String { rawValue }
        var options: [String] { ["--no-daemon", "--avahi", self == .own ? "never" : "always"] }
    }

    private func start(_ publisher: Publisher, hosts: Int = 2) async throws -> Lab {
        publisher == .own ? try await Lab.start(hosts: hosts, "--no-avahi", "h1") : try await Lab.start(hosts: hosts)
    }

    private func publish(_ options: String..., by publisher: Publisher, _ lab: Lab) throws -> LabProcess {
        try lab.exec("h1", [Built.discoverd, "publish"] + options + publisher.options)
    }

    private func published(_ process: LabProcess, _ name: String) async throws {
        try await process.line(within: .seconds(20), "published \(name)") {
            $0.hasPrefix("published \(name), an alias")
        }
    }

    /// What avahi-resolve(1) says on h2.
    private func resolved(_ name: String, _ lab: Lab) async throws -> [String] {
        try await lab.toEnd("h2", ["avahi-resolve", "-4", "-n", name], within: .seconds(20)).output
    }

    /// What python-zeroconf finds on h2.
    private func zeroconf(_ name: String, _ lab: Lab) async throws -> Set<String> {
        let words = [Lab.python, "\(Lab.scripts)/zc_resolve.py", name, "--seconds", "5"]
        return Set(try await lab.toEnd("h2", words, within: .seconds(25)).output)
    }

    /// Waits until python-zeroconf finds these IPv4 addresses alone.
    private func wait(for name: String, at addresses: Set<String>, _ lab: Lab) async throws {
        try await eventually(within: .seconds(30), "\(name) at \(addresses)") {
            try await zeroconf(name, lab).filter { !$0.contains(":") } == addresses ? true : nil
        }
    }

    @Test(
        "other hosts resolve it, of three labels too; an address comes and goes; its end has a goodbye",
        arguments: Publisher.allCases)
    func follows(_ publisher: Publisher) async throws {
        let lab = try await start(publisher)
        let alias = try publish("--alias", "wiki", "--alias", "shop.wiki", by: publisher, lab)
        try await alias.until("both") { $0.count == 2 ? true : nil }
        for name in ["wiki.local", "shop.wiki.local"] {
            #expect(alias.lines().contains("published \(name), an alias of this machine"))
            #expect(try await resolved(name, lab) == ["\(name)\t10.77.0.1"])
        }
        let first = try await zeroconf("shop.wiki.local", lab)
        #expect(first.contains("10.77.0.1") && first.contains { $0.hasPrefix("fe80:") }, "\(first)")
        let reverse = try await lab.ask("h2", "query", "1.0.77.10.in-addr.arpa", "PTR", "--timeout", "3")
        #expect(!reverse.output.contains { $0.contains("wiki") }, "\(reverse)")
        _ = try await lab.run("h1", "ip", "address", "add", "10.77.0.51/24", "dev", "eth0")
        try await wait(for: "wiki.local", at: ["10.77.0.1", "10.77.0.51"], lab)
        _ = try await lab.run("h1", "ip", "address", "del", "10.77.0.51/24", "dev", "eth0")
        try await wait(for: "wiki.local", at: ["10.77.0.1"], lab)
        #expect(alias.lines().count == 2, "\(alias.lines())")
        let goodbyes = try lab.python("h2", "goodbyes.py", "eth0", "wiki.local")
        try await goodbyes.line { $0 == "ready" }
        try await alias.stop()
        try await goodbyes.line { $0 == "wiki.local" }
        goodbyes.signal(SIGTERM)
        #expect(try await zeroconf("wiki.local", lab).isEmpty)
        try await lab.stop()
    }

    @Test("an avahi-daemon that comes takes it over, and it is back when that is killed; nobody hears a goodbye")
    func handedOver() async throws {
        let lab = try await start(.own)
        let alias = try lab.exec("h1", [Built.discoverd, "publish", "--alias", "wiki", "--no-daemon"])
        try await published(alias, "wiki.local")
        let goodbyes = try lab.python("h2", "goodbyes.py", "eth0", "wiki.local")
        try await goodbyes.line { $0 == "ready" }
        for sockets in [
            "while ss -Hulnp sport = :5353 | grep -q discoverd", "until ss -Hulnp sport = :5353 | grep -q discoverd",
        ] {
            try await lab.avahi("h1", sockets.hasPrefix("while") ? "start" : "kill")
            #expect(
                try await lab.bash("h1", "\(sockets); do sleep 0.02; done", within: .seconds(30)).exit == .exited(0))
            try await wait(for: "wiki.local", at: ["10.77.0.1"], lab)
        }
        #expect(goodbyes.lines() == ["ready"] && alias.lines().count == 1, "\(goodbyes.lines()) \(alias.lines())")
        try await alias.stop()
        try await goodbyes.line { $0 == "wiki.local" }
        goodbyes.signal(SIGTERM)
        try await lab.stop()
    }

    @Test("each link has its own addresses; one that comes later has the alias, too", arguments: Publisher.allCases)
    func links(_ publisher: Publisher) async throws {
        let lab = try await start(publisher)
        let alias = try publish("--alias", "wiki", by: publisher, lab)
        try await published(alias, "wiki.local")
        for (host, address) in [("h1", "10.78.0.1/24"), ("h2", "10.78.0.2/24")] {
            try await lab.lab("link", host, "eth1", address)
        }
        try await eventually(within: .seconds(30), every: .seconds(1), "the addresses of both links") {
            let found = try await lab.ask("h2", "query", "wiki.local", "A", "--timeout", "2")
            let places = found.output.map { $0.split(separator: "\t").suffix(2).joined(separator: " ") }
            return Set(places) == ["10.77.0.1 eth0", "10.78.0.1 eth1"] ? true : nil
        }
        try await alias.stop()
        try await lab.stop()
    }

    @Test(
        "a name that another host has is another one, or 73; what the machine is called itself is refused",
        arguments: Publisher.allCases)
    func conflicts(_ publisher: Publisher) async throws {
        let lab = try await start(publisher)
        let other = try lab.exec("h2", ["avahi-publish", "-a", "-R", "wiki.local", "10.77.0.9"])
        try await other.line(.stderr, "established") { $0.contains("Established") }
        let renamed = try publish("--alias", "wiki", by: publisher, lab)
        try await renamed.line(within: .seconds(20), "the next name") {
            $0 == "published wiki-2.local, an alias of this machine (renamed: wiki.local is taken)"
        }
        #expect(try await resolved("wiki-2.local", lab) == ["wiki-2.local\t10.77.0.1"])
        #expect(try await resolved("wiki.local", lab) == ["wiki.local\t10.77.0.9"])
        let refused = try await lab.toEnd(
            "h1", [Built.discoverd, "publish", "--alias", "wiki", "--on-conflict", "fail"] + publisher.options,
            within: .seconds(20))
        #expect(refused.exit == .exited(73) && refused.output.isEmpty, "\(refused)")
        let own = try await lab.toEnd(
            "h1", [Built.discoverd, "publish", "--alias", "h1"] + publisher.options, within: .seconds(20))
        #expect(own.exit != .exited(0) && own.failure?.contains("h1.local is this machine") == true, "\(own)")
        try await renamed.stop()
        other.signal(SIGTERM)
        try await lab.stop()
    }

    @Test("beside a service; both end with the command")
    func besideService() async throws {
        let lab = try await start(.own)
        let web = try publish("web", "8080", "--type", "_http._tcp", "--alias", "wiki", by: .own, lab)
        try await web.until("the service, and the alias") { lines in
            Set(lines) == [
                "published web._http._tcp.local port 8080", "published wiki.local, an alias of this machine",
            ]
                ? true : nil
        }
        let seen = try await lab.run("h2", "avahi-browse", "-rtp", "_http._tcp")
        #expect(seen.contains { $0.hasPrefix("=;eth0;IPv4;web;") && $0.contains(";h1.local;") }, "\(seen)")
        #expect(try await resolved("wiki.local", lab) == ["wiki.local\t10.77.0.1"])
        try await web.stop()
        #expect(try await zeroconf("wiki.local", lab).isEmpty)
        try await lab.stop()
    }

    @Test("a service on an alias: browsers open that name; where it is another host's, the service is not told")
    func onAlias() async throws {
        let lab = try await start(.avahi)
        let web = try publish(
            "web", "8080", "--type", "_http._tcp", "--alias", "wiki", "--host", "wiki.local", by: .avahi, lab)
        try await web.line(within: .seconds(20), "the service") { $0 == "published web._http._tcp.local port 8080" }
        let seen = try await lab.run("h2", "avahi-browse", "-rtp", "_http._tcp")
        #expect(seen.contains { $0.hasPrefix("=;eth0;IPv4;web;") && $0.contains(";wiki.local;10.77.0.1;") }, "\(seen)")
        let second = try await lab.toEnd(
            "h2",
            [Built.discoverd, "publish", "other", "80", "--alias", "wiki", "--host", "wiki.local"]
                + Publisher.avahi.options, within: .seconds(20))
        #expect(second.exit == .exited(73) && second.output.isEmpty, "\(second)")
        try await web.stop()
        try await lab.stop()
    }

    @Test("the daemon has those of discoverd.yaml, and one that is detached over its own end; unpublish ends it")
    func daemon() async throws {
        let lab = try await start(.avahi)
        let daemon = try await LabDaemon.start(
            on: "h1", of: lab,
            """
            alias: [wiki, "box.%h"]
            services: [{name: web, type: _http._tcp, port: 80, alias: blog, host: blog.local}]

            """)
        let socket = ["--socket", daemon.socket]
        let made = try await lab.toEnd(
            "h1", [Built.discoverd, "publish", "--alias", "shop.wiki", "--detach"] + socket, within: .seconds(20))
        #expect(made.output == ["published shop.wiki.local, an alias of this machine"], "\(made)")
        try await daemon.killAndRestart()
        for name in ["wiki.local", "box.h1.local", "blog.local", "shop.wiki.local"] {
            try await wait(for: name, at: ["10.77.0.1"], lab)
        }
        let seen = try await lab.run("h2", "avahi-browse", "-rtp", "_http._tcp")
        #expect(seen.contains { $0.hasPrefix("=;eth0;IPv4;web;") && $0.contains(";blog.local;10.77.0.1;") }, "\(seen)")
        let list = try await lab.toEnd("h1", [Built.discoverd, "status", "--services"] + socket, within: .seconds(20))
        #expect(list.output.contains("established\tshop.wiki.local\talias\t\tdetached\t\t"), "\(list)")
        let end = try await lab.toEnd("h1", [Built.discoverd, "unpublish", "shop.wiki"] + socket, within: .seconds(20))
        #expect(end.exit == .exited(0), "\(end)")
        #expect(try await zeroconf("shop.wiki.local", lab).isEmpty)
        try await daemon.stop()
        try await lab.stop()
    }
}
