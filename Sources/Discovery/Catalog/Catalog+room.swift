import DNSSD

// More services than the query may keep.
extension Catalog {
    /// Services beyond the limit that are kept, for when there is room: with the others, more than a finder keeps of a
    /// link.
    var mostSpares: Int { max(256, limits.services) }

    /// Makes room among the spares for newcomers, which may soon be resolved. Forgets an eighth: of those never
    /// resolved, first those that are gone, then the latest.
    mutating func forgetSpares() {
        let bare = entries.values.filter { $0.isSpare && $0.host == nil }
            .map { (isLive: $0.isAnywhere, entry: $0) }
            .sorted { $0.isLive == $1.isLive ? $0.entry.number > $1.entry.number : $1.isLive }
        for (_, entry) in bare.prefix(mostSpares / 8) { remove(entry.instance) }
    }

    private var room: Int { limits.services - (entries.count - spares) }
    var isFull: Bool { room <= 0 }

    /// Replaces a service with one that has been resolved, unless its host already has its share.
    mutating func makeRoom(for instance: ServiceInstance, on host: HostName) -> [Change<DiscoveredService>] {
        var order = self.order ?? currentOrder
        // A second reference would copy it.
        self.order = nil
        let victim = order.takeUnresolved() ?? (order.isWithinShare(host, with: instance) ? order.takeSpare() : nil)
        self.order = order
        guard let victim, let told = entries[victim].map(\.told) else { return [] }
        entries[victim]?.told = nil
        entries[victim]?.isSpare = true
        entries[instance]?.isSpare = false
        awaited.remove(victim)
        return told.map { [.lost($0)] } ?? []
    }

    /// Reports omitted services when there is room: resolved ones first, then in order of arrival.
    mutating func fillUp(now: Duration) -> [Change<DiscoveredService>] {
        guard spares > 0, !isFull else { return [] }
        let waiting = entries.values.filter(\.isSpare)
            .map { (isResolved: $0.host != nil, entry: $0) }
            .sorted { $0.isResolved == $1.isResolved ? $0.entry.number < $1.entry.number : $0.isResolved }
        let next = waiting.prefix(room).map(\.entry)
        spares -= next.count
        for entry in next {
            entries[entry.instance]?.isSpare = false
            order?.add(entry.instance, to: entry.host)
        }
        return evaluate(next.map(\.instance), now: now)
    }

    /// An entry was removed.
    mutating func gone(_ instance: ServiceInstance) {
        order?.remove(instance)
        if room > limits.services / 8 { order = nil }
    }

    private var currentOrder: EvictionOrder<ServiceInstance, HostName> {
        var order = EvictionOrder<ServiceInstance, HostName>(share: limits.servicesPerHost)
        for entry in entries.values.filter({ !$0.isSpare }).sorted(by: { $0.number < $1.number }) {
            order.add(entry.instance, to: entry.host)
        }
        return order
    }
}

extension CatalogEntry {
    /// It is currently seen somewhere.
    fileprivate var isAnywhere: Bool { sites.values.contains { $0.presence.isLive } }

    /// The host that it was resolved to.
    fileprivate var host: HostName? { sites.values.lazy.compactMap(\.resolution).first?.host }
}
