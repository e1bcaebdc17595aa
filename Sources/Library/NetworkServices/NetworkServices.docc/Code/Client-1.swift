import NetworkServices

/// Finds a service of the type `_greeting._tcp`, connects to it by its name, and prints what it says.
@main
struct BrowseAndConnect {
    static func main() async throws {
        let network = try LocalNetwork()
        for try await event in network.browse(try ServiceType("_greeting._tcp")) {
            guard case .found(let service) = event else { continue }
            print("found", service.instance)
            break
        }
        await network.shutdown()
    }
}
