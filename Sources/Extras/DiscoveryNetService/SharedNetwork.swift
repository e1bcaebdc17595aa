import DNSSD
import Discovery
import DiscoverySystem
import HostEngine

/// This process's network, for objects without one of their own: found on the wire, published by the host's avahi-daemon.
enum SharedNetwork {
    static let network: LocalNetwork = {
        do throws(DiscoveryError) {
            return LocalNetwork(engine: try HostEngine(.auto).engine)
        } catch {
            return LocalNetwork(engine: BrokenEngine(reason: error))
        }
    }()
}

/// Replaces an engine that could not be started: reports the error to every operation.
private struct BrokenEngine: DiscoveryEngine {
    let reason: DiscoveryError

    func finds(in domain: Domain) -> Bool { true }

    func publishes(in domain: Domain) -> Bool { true }

    func watchState(_ reporting: @escaping @Sendable (EngineState) -> Void) -> any EngineOperation {
        SingleReport { [reason] in reporting(.down(reason.message)) }
    }

    func browse(_ query: ServiceQuery, reporting: @escaping @Sendable ([BrowseFact]) -> Void) -> any EngineOperation {
        SingleReport { [reason] in reporting([.backend(.down(reason.message))]) }
    }

    func browseTypes(_ query: TypeQuery, reporting: @escaping @Sendable ([TypeFact]) -> Void) -> any EngineOperation {
        SingleReport { [reason] in reporting([.backend(.down(reason.message))]) }
    }

    func browseDomains(
        _ query: DomainQuery, reporting: @escaping @Sendable ([DomainFact]) -> Void
    ) -> any EngineOperation {
        SingleReport { [reason] in reporting([.backend(.down(reason.message))]) }
    }

    func publish(
        _ service: OfferedService, onConflict: ConflictPolicy, isPersistent: Bool,
        reporting: @escaping @Sendable (PublicationFact) -> Void
    ) -> any PublicationOperation {
        SingleReport { [reason] in reporting(PublicationFact(name: service.name, state: .failed(reason))) }
    }

    func shutdown() async -> Bool { true }
}

extension ServiceType {
    /// Parses a type as Foundation writes it, with or without a final dot, and with subtypes after commas:
    /// `_http._tcp.,_printer`.
    static func withSubtypes(_ text: String) throws(DiscoveryError) -> (type: ServiceType, subtypes: [String]) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        let type = try ServiceType(parts.first ?? "")
        var subtypes = type.subtype.map { [$0] } ?? []
        for part in parts.dropFirst() { subtypes.append(try validatedSubtype(part)) }
        return (type.base, subtypes)
    }

    /// Parses a type to browse for, with at most one subtype.
    static func toBrowse(_ text: String) throws(DiscoveryError) -> ServiceType {
        let (type, subtypes) = try withSubtypes(text)
        guard let subtype = subtypes.first else { return type }
        guard subtypes.count == 1 else {
            throw DiscoveryError(.invalidServiceType, "\(text.escapedForTerminal): one subtype is looked for at a time")
        }
        return try type.withSubtype(subtype)
    }
}
