import Foundation
import Glibc
import Testing

/// The daemon's key of a zone, which is replaced while it publishes.
@Suite("A zone's key", .labSlot)
struct ZoneKeyTests {
    @Test(
        "a credential's file that is replaced: used from the next message on, refused or not, and said",
        arguments: DNSLab.Zone.allCases)
    func replaced(_ zone: DNSLab.Zone) async throws {
        let dns = try await DNSLab.start(zone.server, .unbound)
        // As systemd does with LoadCredential=.
        try await key(dns, "pub")
        let daemon = try LabDaemon(dns.lab, "h1", socket: LabDaemon.systemSocket)
        try daemon.configure(
            """
            domains:
              - {name: \(zone.name), key: zone.key, lease: 10s, ttl: 5s}
            services:
              - {name: tony, type: _witap._tcp, port: 9000, domain: \(zone.name)}
            """)
        try await daemon.start(
            arguments: daemon.arguments + ["--state", "\(daemon.directory)/state"],
            environment: ["CREDENTIALS_DIRECTORY": "/run/credentials"])
        try await daemon.until("held", "pub.home.example.org.")

        try await key(dns, "unknown")
        try daemon.process.signal(SIGHUP)
        try await daemon.process.line(.stderr, "the new key") {
            $0.contains("updates of \(zone.name) are signed with another key now: unknown.home.example.org.")
        }
        try await daemon.until("refused", "unknown.home.example.org.")
        // A file that is no key changes nothing.
        try await dns.run("h1", "/bin/sh", "-c", "echo nonsense >/run/credentials/zone.key")
        try daemon.process.signal(SIGHUP)
        try await daemon.process.line(.stderr, "the fault") { $0.contains("the old one stays") }

        try await key(dns, "wide")
        try daemon.process.signal(SIGHUP)
        try await daemon.process.line(.stderr, "the new key") { $0.contains("another key now: wide.home.example.org.") }
        try await daemon.until("held", "wide.home.example.org.")
        let errors = try daemon.process.lines(.stderr)
        #expect(
            !errors.contains { $0.contains("d2lkZS13aWRl") || $0.contains("c2VjcmV0LXNl") || $0.contains("nonsense") })
        try await daemon.stop()
        try await dns.stop()
    }

    private func key(_ dns: DNSLab, _ name: String) async throws {
        try await dns.run(
            "h1", "/bin/sh", "-c",
            "mkdir -p /run/credentials && install -m 400 /run/dns/keys/\(name).key /run/credentials/new && "
                + "mv /run/credentials/new /run/credentials/zone.key")
    }
}

extension LabDaemon {
    /// Waits until the only domain is in a state, with a key.
    fileprivate func until(_ state: String, _ key: String) async throws {
        _ = try await curl("/v1/status", within: .seconds(40)) { answer in
            let domain = try answer.objects("domains").first
            return domain?["state"] as? String == state && domain?["key"] as? String == key
        }
    }
}
