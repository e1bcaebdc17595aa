import Foundation
import Testing

/// Services of another site, over TLS, as programs that others wrote see them.
@Suite("mirror between sites", .labSlot)
struct SiteMirrorTests {
    private struct Sites {
        let lab: Lab
        let all: [Site]
        /// The link of the services, and that of who looks for them.
        var there: LabDaemon { all[0].daemon }
        var here: LabDaemon { all[1].daemon }
        /// On the link of who looks for them.
        var seen: LabProcess { all[1].seen }

        func stop() async throws {
            for site in all { try await site.daemon.stop() }
            try await lab.stop()
        }
    }

    /// A link of its own, with a router to the others and a host.
    private struct Site {
        let name: String
        let host: String
        let daemon: LabDaemon
        /// `avahi-browse` on the host.
        let seen: LabProcess
        var link: String { "\(name)0" }

        /// Waits until the host resolves a service, over IPv4.
        func finds(_ name: String, at place: String) async throws {
            try await seen.line(.stdout, "\(name) on \(link)") {
                $0.hasPrefix("=;\(self.link);IPv4;\(name);_http._tcp;local;\(place);")
            }
        }
    }

    /// Sites that each mirror the others. h1 routes for the last host but one or two, and so on; eth0 of the routers is the way between them.
    private func start(_ names: [String] = ["iot", "home"]) async throws -> Sites {
        let count = names.count
        let lab = try await Lab.start(hosts: 2 * count)
        var daemons: [(daemon: LabDaemon, key: String)] = []
        for (place, name) in names.enumerated() {
            let (router, host, network) = ("h\(place + 1)", "h\(place + 1 + count)", "10.\(78 + place).0")
            try await lab.lab("link", router, "\(name)0", "\(network).1/24")
            try await lab.lab("link", host, "\(name)0", "\(network).3/24")
            try await lab.run(host, "ip", "link", "set", "eth0", "down")
            try await lab.run(host, "ip", "route", "add", "default", "via", "\(network).1")
            try await lab.run(router, "sysctl", "-qw", "net.ipv4.ip_forward=1")
            for other in 0..<count where other != place {
                try await lab.run(
                    router, "ip", "route", "add", "10.\(78 + other).0.0/24", "via", "10.77.0.\(other + 1)")
            }
            let daemon = try LabDaemon(lab, router)
            daemons.append((daemon, try await key(of: daemon)))
        }
        var sites: [Site] = []
        for (place, name) in names.enumerated() {
            let others = names.indices.filter { $0 != place }
            try daemons[place].daemon.configure(
                """
                peers: {\(others.map { "\(names[$0]): \"\(daemons[$0].key)\"" }.joined(separator: ", "))}
                mirror-listen:
                  {address: "10.77.0.\(place + 1):5354", from: \(name)0, types: [_http._tcp], peers: [\(others.map { names[$0] }.joined(separator: ", "))]}
                mirror:
                \(others.map { "  - {from: {peer: \(names[$0]), address: \"10.77.0.\($0 + 1):5354\"}, to: \(name)0, types: [_http._tcp]}" }.joined(separator: "\n"))

                """)
            try await daemons[place].daemon.start("--avahi", "always")
            let host = "h\(place + 1 + count)"
            sites.append(
                Site(
                    name: name, host: host, daemon: daemons[place].daemon,
                    seen: try lab.exec(host, ["avahi-browse", "-rpk", "_http._tcp"])))
        }
        return Sites(lab: lab, all: sites)
    }

    /// A daemon's key, as an administrator reads it before the first start.
    private func key(of daemon: LabDaemon) async throws -> String {
        let shown = try await daemon.lab.run(
            daemon.host, "env", "STATE_DIRECTORY=\(daemon.directory)/state", Built.discoverd, "key", "show")
        return String(try #require(shown.first?.split(separator: "\t").first))
    }

    private func tony(in sites: Sites) async throws -> LabProcess {
        let web = try await sites.lab.avahiPublish("h3", "-s", "tony", "_http._tcp", "8080", "a=1")
        try await sites.seen.line(.stdout, "tony on home0") {
            $0 == #"=;home0;IPv4;tony;_http._tcp;local;h3-iot.local;10.78.0.3;8080;"a=1""#
        }
        return web
    }

    @Test(
        "avahi-browse at the other site resolves it, curl reaches it, its end is seen; a daemon that is killed has no end"
    )
    func comesAndGoes() async throws {
        let sites = try await start()
        let lab = sites.lab
        let server = try lab.exec(
            "h3", ["python3", "-u", "-m", "http.server", "8080", "--directory", "/usr/share/doc"])
        try await server.line { $0.hasPrefix("Serving") }
        let web = try await tony(in: sites)
        let answer = try await lab.run("h4", "curl", "-sI", "-m", "5", "http://10.78.0.3:8080/")
        #expect(answer.first?.contains("200") == true, "\(answer)")
        let status = try await sites.here.ask("status").output
        #expect(status.contains("mirror\tiot to home0: 1 service"), "\(status)")
        #expect(try await sites.there.ask("status").output.contains("mirror\tiot0 to home: 1 service"))

        let (old, said) = (try sites.there.process, try sites.here.process)
        old.signal(SIGKILL)
        try await old.exit()
        try await said.line(.stderr, "the break") { $0.contains("services of iot are not followed") }
        try await sites.there.start("--avahi", "always")
        try await said.line(.stderr, "the end of the break") { $0.hasSuffix("services of iot are followed") }
        // Another service, which comes after all that was there has been told again.
        let anna = try await lab.avahiPublish("h3", "-s", "anna", "_http._tcp", "8081")
        try await sites.seen.line(.stdout, "anna on home0") { $0.hasPrefix("=;home0;IPv4;anna;") }
        #expect(!sites.seen.lines().contains { $0.hasPrefix("-") }, "\(sites.seen.lines())")

        let before = ContinuousClock.now
        web.signal(SIGTERM)
        try await sites.seen.line(.stdout, "the end") { $0.hasPrefix("-;home0;IPv4;tony;") }
        #expect(ContinuousClock.now - before < .seconds(10))
        anna.signal(SIGTERM)
        try await sites.stop()
    }

    @Test("three sites that each mirror both others: a service is found once on each link, and nowhere after its end")
    func ring() async throws {
        let sites = try await start(["iot", "home", "cam"])
        let lab = sites.lab
        var services: [LabProcess] = []
        // The second comes after the first was everywhere, by the same ways: what came back of the first would be there before.
        for (place, name) in ["tony", "anna"].enumerated() {
            let origin = sites.all[place]
            services.append(try await lab.avahiPublish(origin.host, "-s", name, "_http._tcp", "8080"))
            for site in sites.all {
                let host = site.name == origin.name ? "\(origin.host).local" : "\(origin.host)-\(origin.name).local"
                try await site.finds(name, at: "\(host);10.\(78 + place).0.3")
            }
        }
        for site in sites.all {
            let lines = site.seen.lines()
            let came = lines.filter { $0.hasPrefix("+;\(site.link);IPv4;") }
            #expect(came.count == 2 && !lines.contains { $0.hasPrefix("-") }, "\(site.name): \(lines)")
            let status = try await site.daemon.ask("status").output.filter { $0.hasPrefix("mirror\t") }
            // What the others brought is told nobody.
            #expect(status.filter { $0.contains(": 1 service") }.count == 2, "\(status)")
        }
        for service in services { service.signal(SIGTERM) }
        for site in sites.all {
            try await site.seen.until("the ends on \(site.link)") { lines in
                let gone = lines.filter { $0.hasPrefix("-;\(site.link);IPv4;") }
                return gone.count == 2 ? true : nil
            }
        }
        for site in sites.all {
            let left = try await lab.run(site.host, "avahi-browse", "-rtp", "_http._tcp")
            #expect(left.isEmpty, "\(site.name): \(left)")
        }
        try await sites.stop()
    }

    @Test("a daemon whose key finds no room ends with 74, of which systemd starts it again; then it runs")
    func fullDisk() async throws {
        let lab = try await Lab.start(hosts: 1)
        try await lab.run(
            "h1", "sh", "-c",
            "mkdir /run/small /run/few && mount -t tmpfs -o size=4k tmpfs /run/small && head -c 4k /dev/zero >/run/small/full && "
                + "mount -t tmpfs -o nr_inodes=1 tmpfs /run/few")
        let daemon = try LabDaemon(lab)
        try daemon.configure("peers: {home: \"SHA256:\(String(repeating: "A", count: 43))\"}\n")
        let arguments = daemon.arguments + ["--state", "/run/small"]
        // As systemd starts it; by hand nobody waits.
        let full = try await lab.toEnd(
            "h1", ["env", "NOTIFY_SOCKET=/run/none", Built.discoverd] + arguments, within: .seconds(30))
        #expect(full.exit == .exited(74) && full.duration > .seconds(6), "\(full)")
        #expect(full.failure?.contains("peers: this daemon's key: ") == true, "\(full)")
        #expect(full.failure?.contains("No space left on device") == true, "\(full)")
        let few = try await lab.toEnd(
            "h1", [Built.discoverd] + daemon.arguments + ["--state", "/run/few/new"], within: .seconds(30))
        #expect(few.exit == .exited(74) && few.duration < .seconds(6), "\(few)")
        try await lab.run("h1", "test", "!", "-e", daemon.socket)
        try await lab.run("h1", "mount", "-o", "remount,size=64k", "/run/small")
        try await daemon.start(arguments: arguments)
        try await daemon.stop()
        try await lab.run("h1", "chmod", "644", "/run/small/identity.pem")
        let open = try await lab.toEnd("h1", [Built.discoverd] + arguments, within: .seconds(20))
        #expect(
            open.exit == .exited(78) && open.failure?.contains("chmod 600 /run/small/identity.pem") == true, "\(open)")
        try await lab.stop()
    }

    @Test("a key that is not known gets nothing, whatever it asks; one that is known changes nothing")
    func keys() async throws {
        let sites = try await start()
        let lab = sites.lab
        let web = try await tony(in: sites)
        /// What openssl gets.
        func ask(_ request: String, with options: String) async throws -> String {
            let run = try await lab.bash(
                "h2",
                "printf '%s HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n' '\(request)' | "
                    + "timeout 3 openssl s_client -quiet -connect 10.77.0.1:5354 \(options) 2>&1")
            return run.output.joined(separator: "\n")
        }
        let file = "\(sites.here.directory)/state/identity.pem"
        let known = "-cert \(file) -key \(file)"
        #expect(try await ask("GET /v1/services/watch", with: known).contains("tony"))
        for (request, status) in [
            ("POST /v1/registrations", "404"), ("GET /v1/status", "404"), ("GET /metrics", "404"),
            ("GET /v2/ping", "404"), ("GET /v2/services/watch", "404"),
            ("POST /v1/services/watch", "405"), ("GET /v1/services/watch?view=1", "400"),
        ] {
            let answer = try await ask(request, with: known)
            #expect(answer.contains("HTTP/1.1 \(status)"), "\(request): \(answer)")
        }
        let other = "\(sites.here.directory)/other"
        try await lab.run("h2", "env", "STATE_DIRECTORY=\(other)", Built.discoverd, "key", "show")
        for options in ["", "-cert \(other)/identity.pem -key \(other)/identity.pem"] {
            let answer = try await ask("GET /v1/services/watch", with: options)
            #expect(answer.contains("alert certificate") && !answer.contains("HTTP"), "\(answer)")
        }
        let log = try sites.there.process
        try await log.line(.stderr, "the stranger") {
            $0.contains("a caller from 10.77.0.2 is told no services: the key of")
        }
        web.signal(SIGTERM)
        try await sites.stop()
    }
}
