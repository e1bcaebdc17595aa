import DNSSD
import Discovery

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
        let policy: ConflictPolicy
        let isPersistent: Bool
        let report: @Sendable (PublicationFact) -> Void
        var name: ServiceName
        var isEstablished = false
        var wasEstablished = false
        var refusal: DiscoveryError?

        var instance: ServiceInstance { ServiceInstance(name: name, type: service.type, domain: service.domain) }
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
