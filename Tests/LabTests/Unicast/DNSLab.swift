import Foundation

/// A lab of two subnets with DNS servers on the router between them (lab/dns.sh): h1 and h3 are hosts, h2 is the router.
struct DNSLab: Sendable {
    enum Server: String, Sendable, CaseIterable {
        case bind, knot, powerdns, unbound, dnsmasq, resolver, validator
    }

    let lab: Lab

    /// A lab with these servers; its hosts ask Unbound, if it is among them.
    /// - Parameter options: of `lab start`; avahi-daemon runs on no host unless `withAvahi`.
    static func start(_ servers: Server..., withAvahi: Bool = false, _ options: [String] = []) async throws -> DNSLab {
        let quiet = withAvahi ? [] : ["h1", "h2", "h3"].flatMap { ["--no-avahi", $0] }
        let lab = DNSLab(lab: try await Lab.start(["--hosts", "3"] + quiet + options, environment: [:]))
        try await lab.dns(["up"] + servers.map(\.rawValue), within: .seconds(60))
        return lab
    }

    /// Runs a tool on a host, expects status 0, and returns its lines of output.
    @discardableResult
    func run(_ host: String, _ arguments: String...) async throws -> [String] {
        try await run(host, arguments)
    }

    /// `start`, `kill`, `term`, `stop`, `cont`, `pid`, or `log` of a server.
    @discardableResult
    func server(_ server: Server, _ verb: String) async throws -> [String] {
        try await dns([verb, server.rawValue], within: .seconds(60))
    }

    /// What a host's /etc/resolv.conf says from now on.
    func resolv(_ host: String, _ lines: String...) async throws { try await resolv(host, lines) }

    /// The same.
    func resolv(_ host: String, _ lines: [String]) async throws {
        try await dns(["resolv", host] + lines, within: .seconds(30))
    }

    /// What a host's configuration of discoverd says from now on.
    func settings(_ host: String, _ lines: String...) async throws {
        try await dns(["settings", host] + lines, within: .seconds(30))
    }

    /// What dig prints, a line a record.
    func dig(_ host: String, _ arguments: String...) async throws -> [String] {
        try await run(host, ["/usr/bin/env", "dig", "+noall", "+answer", "+tries=1", "+time=3"] + arguments)
    }

    /// Changes a zone, with the key `wide`.
    func nsupdate(_ address: String, _ zone: String, _ lines: [String]) async throws {
        let process = try lab.exec("h1", "/usr/bin/env", "nsupdate", "-k", "/run/dns/keys/wide.key")
        process.write("server \(address)\nzone \(zone)\n" + lines.map { $0 + "\n" }.joined() + "send\n")
        process.closeInput()
        guard try await process.exit() == .exited(0) else { throw process.missed("nsupdate failed") }
    }

    /// The records of a zone, without its SOA: what a transfer with the key `wide` says, in order.
    func transfer(_ zone: String, from address: String) async throws -> [String] {
        let key = "/run/dns/keys/wide.key"
        return try await run(
            "h1", ["/usr/bin/env", "dig", "+noall", "+answer", "-k", key, "@\(address)", zone, "AXFR"]
        )
        .filter { !$0.split(whereSeparator: \.isWhitespace).contains("SOA") }.sorted()
    }

    /// Ends the lab.
    func stop() async throws { try await lab.stop() }

    private func run(_ host: String, _ arguments: [String]) async throws -> [String] {
        let process = try lab.exec(host, arguments)
        guard try await process.exit(within: .seconds(30)) == .exited(0) else { throw process.missed("it failed") }
        return process.lines()
    }

    @discardableResult
    private func dns(_ arguments: [String], within limit: Duration) async throws -> [String] {
        let process = try LabProcess(["\(Lab.scripts)/dns.sh", lab.directory] + arguments)
        guard try await process.exit(within: limit) == .exited(0) else { throw process.missed("dns.sh failed") }
        return process.lines()
    }
}
