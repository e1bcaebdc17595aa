import DNSSD
import Discovery
import DiscoveryTesting

/// A simulated link whose machines have addresses of loopback, so that real servers and clients can be on them.
struct Link: Sendable {
    let simulated = SimulatedNetwork()
    let server: LocalNetwork
    let client: LocalNetwork
    /// What permits the addresses.
    let policy: AddressPolicy

    init(observer: (any DiscoveryObserver)? = nil) throws {
        server = LocalNetwork(engine: try simulated.addMachine("server", interfaces: [try Self.interface("127.0.0.1")]))
        client = LocalNetwork(
            engine: try simulated.addMachine("client", interfaces: [try Self.interface("127.0.0.9")]),
            observer: observer)
        policy = AddressPolicy(allow: [try CIDR("127.0.0.0/8")])
    }

    /// Publishes a port of loopback.
    func publish(_ name: String, _ type: String, port: Int) async throws -> Publication {
        let publication = server.publish(try OfferedService(name: name, type: type, port: port))
        _ = try await publication.established()
        return publication
    }

    private static func interface(_ address: String) throws -> SimulatedInterface {
        guard let address = IPAddress(address) else { throw DiscoveryError(.invalidAddress, address) }
        return SimulatedInterface(NetworkInterface(index: 2, name: "eth0"), link: "lan", addresses: [address])
    }
}

/// Waits until `isTrue`, looking often: nothing reports it.
func eventually(within limit: Duration = .seconds(20), _ isTrue: () async throws -> Bool) async throws -> Bool {
    let end = ContinuousClock.now + limit
    while ContinuousClock.now < end {
        if try await isTrue() { return true }
        try await Task.sleep(for: .milliseconds(20))
    }
    return false
}
