public import DNSSD

/// An event of a browser of service types.
public enum ServiceTypeEvent: Hashable, Sendable {
    /// A type has services in the domain; with the interfaces on which it was seen so far, sorted.
    case found(ServiceType, Domain, [NetworkInterface])
    /// A type is gone.
    case lost(ServiceType, Domain)
    /// Everything known at the start has been reported. Reported once.
    case settled
    /// The backend went away or came back.
    case backend(BackendState)
    /// Some results were omitted.
    case degraded(String)
}

/// An event of a browser of domains.
public enum DomainEvent: Hashable, Sendable {
    /// A domain is recommended.
    case found(Domain)
    /// It no longer is.
    case lost(Domain)
    /// Everything known at the start has been reported. Reported once.
    case settled
    /// The backend went away or came back.
    case backend(BackendState)
    /// Some results were omitted.
    case degraded(String)
}

package typealias TypeCatalog = PresenceCatalog<TypeKey>
package typealias DomainCatalog = PresenceCatalog<Domain>

extension ServiceTypeEvent {
    init(_ change: Change<TypeCatalog.Value>) {
        switch change {
        case .found(let listing), .changed(let listing):
            self = .found(listing.key.type, listing.key.domain, listing.origins.compactMap(\.interface).sorted())
        case .lost(let listing): self = .lost(listing.key.type, listing.key.domain)
        case .settled: self = .settled
        case .backend(let state): self = .backend(state)
        case .degraded(let text): self = .degraded(text)
        }
    }
}

extension DomainEvent {
    init(_ change: Change<DomainCatalog.Value>) {
        switch change {
        case .found(let listing), .changed(let listing): self = .found(listing.key)
        case .lost(let listing): self = .lost(listing.key)
        case .settled: self = .settled
        case .backend(let state): self = .backend(state)
        case .degraded(let text): self = .degraded(text)
        }
    }
}
