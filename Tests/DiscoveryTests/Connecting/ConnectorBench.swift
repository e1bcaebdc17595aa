import DNSSD
import Discovery
import DiscoveryTesting

/// A connector on a simulated machine, beside a machine that publishes.
struct ConnectorBench {
    let time = TestTime()
    let dialer = FakeDialer()
    let network: LocalNetwork
    let simulated: SimulatedNetwork
    let publisher: SimulatedEngine
    let local: LocalAddresses
    let v6: IPAddress
    let v4: IPAddress

    init() throws {
        let simulated = SimulatedNetwork()
        publisher = try simulated.addMachine("h1")
        let engine = try simulated.addMachine("h2")
        self.simulated = simulated
        network = LocalNetwork(engine: engine, time: time)
        local = LocalAddresses(
            entries: [try entry("10.0.0.2", 24), try entry("fe80::2%2", 64), try entry("127.0.0.1", 8, on: lo)],
            loopbacks: [lo])
        v6 = try parsed("fe80::1%2")
        v4 = try parsed("10.0.0.1")
    }

    func connector(_ policy: AddressPolicy = AddressPolicy()) -> Connector<FakeDialer> {
        Connector(
            network: network, dialer: dialer, policy: policy, localAddresses: { [local] in local },
            routes: { NoRoutes() })
    }

    func publish(_ name: String = "tony") throws -> (target: ServiceInstance, publication: any EngineOperation) {
        let service = OfferedService(
            name: try ServiceName(name), type: try ServiceType("_witap._tcp"), port: try Port(9000))
        let publication = publisher.publish(service, onConflict: .fail) { _ in }
        return (ServiceInstance(name: service.name, type: service.type), publication)
    }
}

extension Establishment {
    var failureCode: DiscoveryError.Code? {
        if case .failure(let error) = result { error.code } else { nil }
    }
}
