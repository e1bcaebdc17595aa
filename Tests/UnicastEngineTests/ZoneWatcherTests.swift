import DNSMessage
import DNSSD
import Discovery
import DiscoverySystem
import Testing

@testable import UnicastEngine

@Suite struct ZoneWatcherTests {
    @Test func whenTheOneThatWatchesEndsAnotherHostOfTheDomainWatches() async throws {
        let publisher = UnicastPublisher(
            domains: [try settings()], exchange: ScriptedServer(), directory: nil
        ) { _, _ throws(DiscoveryError) in
            throw DiscoveryError(.backendUnavailable, "no server")
        }
        let hosts = try ["a", "b"].map { label in
            ZoneHost(identity: label, label: label, addresses: [try #require(IPAddress("10.53.0.7"))])
        }
        let operations = try hosts.map { host in
            publisher.publish(
                try OfferedService(name: host.label, type: "_http._tcp", domain: "home.example.org", port: 80),
                on: host, onConflict: .rename, isPersistent: true
            ) { _ in }
        }
        let domain = try Domain("home.example.org")
        #expect(publisher.watchers(of: domain) == ["a"])
        #expect(await operations[0].cancel(waitingAtMost: .seconds(5)))
        try await becomes { publisher.watchers(of: domain) == ["b"] }
        #expect(await operations[1].cancel(waitingAtMost: .seconds(5)))
        try await becomes { publisher.watchers(of: domain).isEmpty }
    }

    private func settings() throws -> DomainSettings {
        let key = TSIGKey(
            name: name("k.example.org"), algorithm: .sha256, secret: [UInt8](repeating: 7, count: 32))
        return DomainSettings(try Domain("home.example.org"), key: key)
    }

    /// Waits for what a task of the publisher does.
    private func becomes(_ condition: @escaping @Sendable () -> Bool) async throws {
        let isDone = await withTimeLimit(.seconds(10)) {
            while !condition(), !Task.isCancelled { await Task.yield() }
            return condition()
        }
        #expect(isDone)
    }
}

@Suite struct HostLabelTests {
    @Test func aNumberedNameFitsWhateverItsLetters() {
        for label in [String(repeating: "ü", count: 31), String(repeating: "a", count: 63), "h1"] {
            let text = HostClaim.numbered(label + ".lab", 12)
            #expect(text.hasSuffix("-12.lab"))
            #expect(text.utf8.count <= 63 + 4, "\(text)")
        }
    }
}
