import NetworkServices

@main
struct HelloDiscovery {
    static func main() async throws {
        let network = try LocalNetwork()
        let hello = try OfferedService(name: "hello", type: "_witap._tcp", port: 9000, txt: ["path": "/x"])

        // Published while the closure runs; the goodbye is sent however it ends.
        try await network.withPublished(hello) { publication in
            let name = try await publication.established()

            // All that is there, again whenever a service comes, changes or goes.
            for try await services in network.services(of: "_witap._tcp") {
                for service in services {
                    print(service.instance.name, service.endpoints, service.txt["path"] ?? "")
                }
                if services.contains(where: { $0.instance.name == name }) { return }
            }
        }
        await network.shutdown()
    }
}
