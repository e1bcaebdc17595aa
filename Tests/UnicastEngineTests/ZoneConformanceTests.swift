import DNSSD
import Discovery
import DiscoveryTesting
import Foundation
import Glibc
import Testing
import UnicastEngine

/// The conformance suite in a zone of BIND: on a host of the lab (lab/dns.sh), where `LabTests` starts it.
///
/// A DNS server is on no link, and does not say which machine publishes a service. Each check has a sub-domain of its own, so
/// that all of them wait side by side.
@Suite(
    .enabled(if: ProcessInfo.processInfo.environment["ZONE_LAB"] == "all", "not on a host of the lab with DNS servers"),
    .timeLimit(.minutes(3))
)
struct ZoneConformanceTests {
    @Test(arguments: ZoneConformance.checks(with: []))
    func conforms(_ number: Int, _ check: EngineConformance.Check) async throws {
        try await ZoneConformance.run(check, number, backend: nil)
    }
}

/// The checks that stop the way to the server.
@Suite(
    .serialized,
    .enabled(if: ProcessInfo.processInfo.environment["ZONE_LAB"] == "restarting", "not on a host of the lab"),
    .timeLimit(.minutes(3))
)
struct ZoneRestartConformanceTests {
    @Test(arguments: ZoneConformance.checks(with: [.restarting]).filter { !$0.1.needs.isEmpty })
    func conforms(_ number: Int, _ check: EngineConformance.Check) async throws {
        try await ZoneConformance.run(check, number, backend: ZoneConformance.way)
    }
}

private enum ZoneConformance {
    /// Numbered, for their sub-domains.
    static func checks(with capabilities: Set<EngineConformance.Capability>) -> [(Int, EngineConformance.Check)] {
        EngineConformance.checks(with: capabilities).enumerated().map { ($0.offset, $0.element) }
    }

    static func run(_ check: EngineConformance.Check, _ number: Int, backend: EngineConformance.Backend?) async throws {
        let domain = try Domain("c\(number).wide.example.org")
        let server = try ServerName("10.53.0.53")
        let key = try TSIGKey(file: "/run/dns/keys/pub.key")
        // A short TTL, so that changes are seen soon, and a short lease, so that a server's absence is noticed.
        let settings = DomainSettings(domain, server: server, key: key, ttl: .seconds(1), lease: .seconds(10))
        let (publisher, browser) = (UnicastEngine(domains: [settings]), UnicastEngine(domains: [settings]))
        try await check.run(
            EngineConformance.Environment(
                publisher: publisher,
                browser: browser,
                limits: browser.limits(in: domain),
                patience: .seconds(60),
                browserBackend: backend,
                publisherBackend: backend,
                domain: domain,
                capabilities: backend == nil ? [] : [.restarting],
                isOneMachine: true,
                // BIND takes 100 of a type.
                crowd: 60,
                openObjects: { publisher.openObjects + browser.openObjects }
            )
        )
        await publisher.shutdown()
        await browser.shutdown()
    }

    /// The way to the server.
    static let way = EngineConformance.Backend(
        stop: { try await ip("route", "add", "unreachable", "10.53.0.53/32") },
        start: { try await ip("route", "del", "unreachable", "10.53.0.53/32") })

    private struct Failed: Error { var status: Int32 }

    private static func ip(_ arguments: String...) async throws {
        let command = (["ip"] + arguments).joined(separator: " ")
        let status = await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: system(command)) }
        }
        if status != 0 { throw Failed(status: status) }
    }
}
