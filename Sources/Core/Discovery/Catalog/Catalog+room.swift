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
    /// The announcer of what it was resolved to.
    fileprivate var announcer: Announcer? {
        sites.values.lazy.compactMap(\.resolution).first?.announcer ?? merged?.service.host.map { .host($0) }
    }
}

extension Resolution {
    var announcer: Announcer { sender.map { .sender(origin, $0) } ?? .host(host) }
}

/// The order in which services of a full list give way: first those never resolved, then the latest of the host that
/// most exceeds its share. So neither unanswered names nor a single host can displace others.
package struct EvictionOrder<Service: Hashable & Sendable, Host: Hashable & Sendable>: Sendable {
    /// The number of services guaranteed to every host.
    private let share: Int
    private var hosts: [Service: Host] = [:]
    private var services: [Host: ArrivalOrder<Service>] = [:]
    /// Hosts with more than their share.
    private var large: Set<Host> = []
    private var unresolved = ArrivalOrder<Service>()

    package init(share: Int) { self.share = share }

    /// Whether a host stays within its share with this service, which may already be its own.
    package func isWithinShare(_ host: Host, with service: Service) -> Bool {
        hosts[service] == host || services[host]?.count ?? 0 < share
    }

    /// Counts a service for a host instead of the one it had before; nil if it was never resolved.
    package mutating func add(_ service: Service, to host: Host?) {
        guard let host else { return unresolved.insert(service) }
        guard hosts[service] != host else { return }
        remove(service)
        hosts[service] = host
        services[host, default: ArrivalOrder()].insert(service)
        if services[host]?.count ?? 0 > share { large.insert(host) }
    }

    package mutating func remove(_ service: Service) {
        unresolved.remove(service)
        guard let host = hosts.removeValue(forKey: service) else { return }
        services[host]?.remove(service)
        let count = services[host]?.count ?? 0
        if count <= share { large.remove(host) }
        if count == 0 { services[host] = nil }
    }

    /// Removes the latest service that was never resolved; nil if there is none.
    package mutating func takeUnresolved() -> Service? {
        let service = unresolved.newest
        if let service { remove(service) }
        return service
    }

    /// Removes the latest service of the largest host; nil if none exceeds its share.
    package mutating func takeSpare() -> Service? {
        let largest = large.max { services[$0]?.count ?? 0 < services[$1]?.count ?? 0 }
        guard let largest, let service = services[largest]?.newest else { return nil }
        remove(service)
        return service
    }
}

extension Dictionary {
    /// Gives back the memory of members that have left, if they were most of thousands: a dictionary alone never does, nor does a filter that
    /// keeps every member.
    package mutating func giveBack() {
        guard capacity > 4096, count < capacity / 3 else { return }
        var smaller = Self(minimumCapacity: count)
        for (key, value) in self { smaller[key] = value }
        self = smaller
    }
}

/// Services for which a query has no room, until there is some.
struct Spares: Sendable {
    private var resolved = ArrivalOrder<ServiceInstance>()
    private var bare = ArrivalOrder<ServiceInstance>()

    var count: Int { resolved.count + bare.count }

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
