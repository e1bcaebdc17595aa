#if Commands
internal import DNSSD

/// The events of the services that a filter allows: one that becomes such is found then, and one that no longer is, lost. A value.
struct FilteredEvents {
    private let filter: ServiceFilter
    /// Those told as found; of what the stream tells as present, no more.
    private var shown: Set<ServiceInstance> = []

    init(_ filter: ServiceFilter) { self.filter = filter }

    /// - Returns: what the event means for who sees only the services allowed; nil if nothing.
    mutating func event(_ event: ServiceEvent) -> ServiceEvent? {
        switch event {
        case _ where filter.isEmpty: return event
        case .found(let service), .changed(let service):
            guard filter.allows(service) else {
                return shown.remove(service.instance) == nil ? nil : .lost(service)
            }
            return shown.insert(service.instance).inserted ? .found(service) : .changed(service)
        case .lost(let service): return shown.remove(service.instance) == nil ? nil : event
        case .settled, .backend, .degraded: return event
        }
    }
}
#endif
