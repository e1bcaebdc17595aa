package import DNSSD

/// Something a catalog lists, with an identity that survives changes.
package protocol Listed: Hashable, Sendable {
    associatedtype Key: Hashable & Sendable
    var key: Key { get }
}

/// What a catalog reports about the things it lists.
package enum Change<Value: Listed>: Hashable, Sendable {
    case found(Value)
    case changed(Value)
    case lost(Value)
    case settled
    case backend(BackendState)
    case degraded(String)
}

extension DiscoveredService: Listed {
    package var key: ServiceInstance { instance }
}

extension ServiceEvent {
    package init(_ change: Change<DiscoveredService>) {
        switch change {
        case .found(let service): self = .found(service)
        case .changed(let service): self = .changed(service)
        case .lost(let service): self = .lost(service)
        case .settled: self = .settled
        case .backend(let state): self = .backend(state)
        case .degraded(let text): self = .degraded(text)
        }
    }
}
