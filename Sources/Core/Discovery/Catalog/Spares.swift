import DNSSD

/// Services for which a query has no room, until there is some.
struct Spares: Sendable {
    private var resolved = ArrivalOrder<ServiceInstance>()
    private var bare = ArrivalOrder<ServiceInstance>()

    var count: Int { resolved.count + bare.count }
    var isEmpty: Bool { count == 0 }

    mutating func add(_ instance: ServiceInstance, isResolved: Bool) {
        if isResolved {
            bare.remove(instance)
            resolved.insert(instance)
        } else {
            bare.insert(instance)
        }
    }

    mutating func remove(_ instance: ServiceInstance) {
        resolved.remove(instance)
        bare.remove(instance)
    }

    /// Removes the next to be reported: a resolved one, or else the one that has waited longest.
    mutating func takeNext() -> ServiceInstance? {
        let next = resolved.oldest ?? bare.oldest
        if let next { remove(next) }
        return next
    }

    /// Removes the latest that was never resolved.
    mutating func takeLatestBare() -> ServiceInstance? {
        let latest = bare.newest
        if let latest { bare.remove(latest) }
        return latest
    }
}
