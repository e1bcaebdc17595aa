import NetworkServices

/// Listens on a free port, publishes it as `greeter._greeting._tcp`, greets one caller, and says goodbye.
@main
struct PublishWithNIO {
    static func main() async throws {
        let network = try LocalNetwork()
        await network.shutdown()
    }
}
