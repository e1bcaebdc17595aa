public import DNSSD
public import Discovery
import Records

/// The engine of one machine in a simulated network.
public final class SimulatedEngine: DiscoveryEngine {
    /// The machine.
    public let machine: String

    private let network: SimulatedNetwork

    init(machine: String, network: SimulatedNetwork) {
        self.machine = machine
        self.network = network
    }

    /// Operations that this engine has started and that have not ended.
    public var openOperations: Int { network.openOperations(of: machine) }

    /// Whether the network has the domain.
    public func finds(in domain: Domain) -> Bool { network.domains.contains { domain.isWithin($0) } }

    /// Whether the network has the domain.
    public func publishes(in domain: Domain) -> Bool { finds(in: domain) }

    /// Follows the state of the machine's backend.
    public func watchState(_ reporting: @escaping @Sendable (EngineState) -> Void) -> any EngineOperation {
        start(.state(reporting))
    }

    /// Starts a query for services.
    public func browse(
        _ query: ServiceQuery,
        reporting: @escaping @Sendable ([BrowseFact]) -> Void
    ) -> any EngineOperation {
        start(.browse(SimulatedOperation.Browse(query: query, report: reporting)))
    }

    /// Starts a query for types.
    public func browseTypes(
        _ query: TypeQuery,
        reporting: @escaping @Sendable ([TypeFact]) -> Void
    ) -> any EngineOperation {
        start(.types(SimulatedOperation.Types(query: query, report: reporting)))
    }

    /// Starts a query for domains; the network's are listed.
    public func browseDomains(
        _ query: DomainQuery,
        reporting: @escaping @Sendable ([DomainFact]) -> Void
    ) -> any EngineOperation {
        start(.domains(SimulatedOperation.Domains(query: query, report: reporting)))
    }

    /// Publishes a service by the rules of the engine on the wire. It is established, or its name lost, at once.
    public func publish(
        _ service: OfferedService,
        onConflict: ConflictPolicy,
        isPersistent: Bool,
        reporting: @escaping @Sendable (PublicationFact) -> Void
    ) -> any PublicationOperation {
        start(
            .publication(
                SimulatedOperation.Publication(
                    service: service,
                    registration: Registration(
                        of: service, policy: onConflict, isPersistent: isPersistent,
                        silence: "the simulated network has neither taken nor refused"),
                    report: reporting)))
    }

    /// Ends all operations of this machine.
    @discardableResult
    public func shutdown() async -> Bool {
        network.shutDown(machine)
        return true
    }

    private func start(_ kind: SimulatedOperation.Kind) -> Ending {
        let id = network.start(kind, on: machine)
        return Ending(
            { [network] in network.cancel(id) },
            change: { [network] port, txt in
                network.update(id) { service in
                    if let port { service.port = port }
                    service.txt = txt
                }
            })
    }
}

/// An operation of a simulated engine, and what it has reported so far.
struct SimulatedOperation: Sendable {
    struct Site: Hashable {
        let instance: ServiceInstance
        let origin: Origin
    }

    struct Browse: Sendable {
        let query: ServiceQuery
        let report: @Sendable ([BrowseFact]) -> Void
        var sightings: Set<Sighting> = []
        var resolutions: [Site: Resolution] = [:]
        var failures: Set<Site> = []
    }

    struct TypePath: Hashable {
        let key: TypeKey
        let origin: Origin
    }

    struct Types: Sendable {
        let query: TypeQuery
        let report: @Sendable ([TypeFact]) -> Void
        var paths: Set<TypePath> = []
    }

    struct Domains: Sendable {
        let query: DomainQuery
        let report: @Sendable ([DomainFact]) -> Void
    }

    struct Publication: Sendable {
        var service: OfferedService
        var registration: Registration
        let report: @Sendable (PublicationFact) -> Void
        /// Others see it.
        var isEstablished = false
        /// It says something else than before.
        var isChanged = false
        /// When it is tried again, on the network's clock.
        var retry: Duration?
        /// The links on which it is claimed, and whether it has its name there.
        var sites: [SimulatedLinks.Site: Bool] = [:]

        var instance: ServiceInstance {
            ServiceInstance(name: registration.name, type: service.type, domain: service.domain)
        }
    }

    enum Kind: Sendable {
        case browse(Browse)
        case types(Types)
        case domains(Domains)
        case state(@Sendable (EngineState) -> Void)
        case publication(Publication)
    }

    let machine: String
    var kind: Kind
    /// The initial list has been reported since the backend came up.
    var isListed = false
    /// The last reported backend state; nil if none was.
    var backend: EngineState?

    func report(_ state: EngineState) -> (@Sendable () -> Void)? {
        switch kind {
        case .browse(let browse): { browse.report([.backend(state)]) }
        case .types(let types): { types.report([.backend(state)]) }
        case .domains(let domains): { domains.report([.backend(state)]) }
        case .state(let report): { report(state) }
        case .publication: nil
        }
    }
}
