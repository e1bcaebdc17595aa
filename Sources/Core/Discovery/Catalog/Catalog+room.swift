import DNSSD

// More services than the query may keep.
extension Catalog {
    /// Services beyond the limit that are kept, for when there is room: with the others, more than a finder keeps of a
    /// link.
    var mostSpares: Int { max(256, limits.services) }

    /// Makes room among the spares for newcomers, which may soon be resolved: forgets an eighth, the latest of those never
    /// resolved.
    mutating func forgetSpares() {
        for _ in 0..<max(1, mostSpares / 8) {
            guard let instance = spares.takeLatestBare() else { return }
            remove(instance)
            forget(instance)
        }
    }

    /// Remembers only the name of a service, the latest ones of many.
    mutating func forget(_ instance: ServiceInstance) {
        guard !forgotten.contains(instance) else { return }
        if forgotten.count >= mostForgotten, let oldest = forgotten.oldest { forgotten.remove(oldest) }
        forgotten.insert(instance)
    }

    private var mostForgotten: Int { 16 * mostSpares }

    private var room: Int { limits.services - (entries.count - spares.count) }
    var isFull: Bool { room <= 0 }

    /// Replaces a service with one that has been resolved, unless its announcer already has its share.
    mutating func makeRoom(for instance: ServiceInstance, of announcer: Announcer) -> [Change<DiscoveredService>] {
        var order = self.order ?? currentOrder
        // A second reference would copy it.
        self.order = nil
        let victim =
            order.takeUnresolved() ?? (order.isWithinShare(announcer, with: instance) ? order.takeSpare() : nil)
        self.order = order
        guard let victim, let told = entries[victim].map(\.told) else { return [] }
        entries[victim]?.told = nil
        entries[victim]?.isSpare = true
        spares.add(victim, isResolved: entries[victim]?.announcer != nil)
        entries[instance]?.isSpare = false
        spares.remove(instance)
        awaited.remove(victim)
        return told.map { [.lost($0)] } ?? []
    }

    /// Reports omitted services when there is room: resolved ones first, then in order of arrival.
    mutating func fillUp(now: Duration) -> [Change<DiscoveredService>] {
        var next: [ServiceInstance] = []
        while !isFull, let instance = spares.takeNext() {
            entries[instance]?.isSpare = false
            order?.add(instance, to: entries[instance]?.announcer)
            next.append(instance)
        }
        return next.isEmpty ? [] : evaluate(next, now: now)
    }

    /// An entry was removed.
    mutating func gone(_ instance: ServiceInstance) {
        order?.remove(instance)
        if room > limits.services / 8 { order = nil }
    }

    private var currentOrder: EvictionOrder<ServiceInstance, Announcer> {
        var order = EvictionOrder<ServiceInstance, Announcer>(share: limits.servicesPerHost)
        for entry in entries.values.filter({ !$0.isSpare }).sorted(by: { $0.number < $1.number }) {
            order.add(entry.instance, to: entry.announcer)
        }
        return order
    }
}

/// Whose services share the room of one: a sender of packets may make up any number of hosts.
enum Announcer: Hashable, Sendable {
    case sender(Origin, UInt16)
    case host(HostName)
}

extension CatalogEntry {
    /// Who announces what it was resolved to.
    fileprivate var announcer: Announcer? {
        sites.values.lazy.compactMap(\.resolution).first?.announcer ?? merged?.service.host.map { .host($0) }
    }
}

extension Resolution {
    var announcer: Announcer { sender.map { .sender(origin, $0) } ?? .host(host) }
}
