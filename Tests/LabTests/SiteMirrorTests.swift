import Foundation
import Testing

/// Services of another site, over TLS, as programs that others wrote see them.
@Suite("mirror between sites", .labSlot)
struct SiteMirrorTests {
    private struct Sites {
        let lab: Lab
        /// On the link of the services, and on that of who looks for them.
        let there: LabDaemon
        let here: LabDaemon
        /// `avahi-browse` on h4.
        let seen: LabProcess

        func stop() async throws {
            try await here.stop()
            try await there.stop()
            try await lab.stop()
        }
    }

    /// h3 is on a link with h1 alone, h4 with h2; eth0 of h1 and h2 is the way between the sites.
    private func start() async throws -> Sites {
        let lab = try await Lab.start(hosts: 4)
        for (router, host, link, network) in [("h1", "h3", "iot0", "10.78.0"), ("h2", "h4", "home0", "10.79.0")] {
            try await lab.lab("link", router, link, "\(network).1/24")
            try await lab.lab("link", host, link, "\(network).3/24")
            try await lab.run(host, "ip", "link", "set", "eth0", "down")
            try await lab.run(host, "ip", "route", "add", "default", "via", "\(network).1")
            try await lab.run(router, "sysctl", "-qw", "net.ipv4.ip_forward=1")
        }
        try await lab.run("h1", "ip", "route", "add", "10.79.0.0/24", "via", "10.77.0.2")
        try await lab.run("h2", "ip", "route", "add", "10.78.0.0/24", "via", "10.77.0.1")
        let (there, here) = (try LabDaemon(lab, "h1"), try LabDaemon(lab, "h2"))
        let (theirs, ours) = (try await key(of: there), try await key(of: here))
        try there.configure(
            """
            peers: {home: "\(ours)"}
            mirror-listen: {address: "10.77.0.1:5354", from: iot0, types: [_http._tcp], peers: [home]}

            """)
        try here.configure(
            """
            peers: {iot: "\(theirs)"}
            mirror: [{from: {peer: iot, address: "10.77.0.1:5354"}, to: home0, types: [_http._tcp]}]

            """)
        for daemon in [there, here] { try await daemon.start("--avahi", "always") }
        return Sites(
            lab: lab, there: there, here: here, seen: try lab.exec("h4", ["avahi-browse", "-rpk", "_http._tcp"]))
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
