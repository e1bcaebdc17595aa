import DNSSD
import Discovery
import UnicastEngine

/// `HelloZone DOMAIN KEYFILE`: publishes in a zone, through its DNS server, and says what is found there.
@main
struct HelloZone {
    static func main() async throws {
        guard CommandLine.arguments.count == 3 else { return print("usage: HelloZone DOMAIN KEYFILE") }
        let domain = try Domain(CommandLine.arguments[1])
        let key = try TSIGKey(file: CommandLine.arguments[2])
        let network = LocalNetwork(engine: UnicastEngine(domains: [DomainSettings(domain, key: key)]))
        let hello = try OfferedService(name: "hello", type: "_witap._tcp", domain: domain.text, port: 9000)

        // Published while the closure runs; the zone is as it was before however it ends.
        try await network.withPublished(hello) { publication in
            print("published as", try await publication.established())

            for try await event in network.browse(try ServiceType("_witap._tcp"), in: domain) {
                switch event {
                case .found(let service), .changed(let service):
                    print(service.instance.name, service.endpoints)
                case .lost(let service): print(service.instance.name, "is gone")
                case .settled: return
                case .backend, .degraded: continue
                }
            }
        }
        await network.shutdown()
    }
}
