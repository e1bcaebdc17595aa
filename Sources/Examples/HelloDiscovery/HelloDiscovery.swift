import NetworkServices

@main
struct HelloDiscovery {
    static func main() async throws {
        let network = try LocalNetwork()
        let hello = try OfferedService(name: "hello", type: "_witap._tcp", port: 9000)

        // Published while the closure runs; the goodbye is sent however it ends.
        try await network.withPublished(hello) { publication in
            print("published as", try await publication.established())

            for try await event in network.browse(try ServiceType("_witap._tcp")) {
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
