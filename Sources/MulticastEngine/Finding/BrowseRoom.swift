import DNSMessage
import DNSSD
import Discovery

/// Decides which services give way in a browse that has reached its limit, and notes whether some were left out.
struct BrowseRoom: Sendable {
    /// The number of services of one host that keep their room against others.
    private static let share = 64

    let limit: Int
    /// Whether services were left out, and are looked for when there is room.
    private(set) var isLeavingOut = false
    /// When to look for room.
    var nextLook: Duration?
    /// Names that gave way because no one answered for them; retried only after all others.
    var givenUp: Set<DomainName> = []
    private var order: EvictionOrder<DomainName, DomainName>?
    /// Services that do not answer, the latest last; some may have answered since, or be gone.
    private var failing: [DomainName] = []

    init(limit: Int) { self.limit = limit }

    var isRemembering: Bool { order != nil }

    /// The limit is reached: starts to track which services give way.
    mutating func begin(_ services: [DomainName: ServiceBrowse.Service]) {
        var order = EvictionOrder<DomainName, DomainName>(share: Self.share)
        for (name, service) in services.sorted(by: { $0.value.number < $1.value.number }) {
            order.add(name, to: service.told == nil ? nil : service.hosts.first)
            if service.isFailing { failing.append(name) }
        }
        self.order = order
    }

    /// There is room again.
    mutating func end() { self = BrowseRoom(limit: limit) }

    /// - Parameter host: its host, if that has announced it; nil: nothing is known of it.
    mutating func added(_ name: DomainName, on host: DomainName?) { order?.add(name, to: host) }
    mutating func resolved(_ name: DomainName, on host: DomainName) { order?.add(name, to: host) }
    mutating func failed(_ name: DomainName) { if isRemembering { failing.append(name) } }
    mutating func removed(_ name: DomainName) { order?.remove(name) }
    mutating func forget(_ name: DomainName) { givenUp.remove(name) }

    /// - Returns: whether it is the first omission.
    mutating func leftOut(at now: Duration) -> Bool {
        if nextLook == nil { nextLook = now + .seconds(1) }
        defer { isLeavingOut = true }
        return !isLeavingOut
    }

    /// Removes one that does not answer.
    mutating func takeFailing(_ services: [DomainName: ServiceBrowse.Service]) -> DomainName? {
        while let name = failing.popLast() {
            if let service = services[name], service.isFailing, service.told == nil { return name }
        }
        return nil
    }

    var hasFailing: Bool { !failing.isEmpty }

    /// Removes one that gives way to a resolved service.
    mutating func takeVictim(for name: DomainName, on host: DomainName) -> DomainName? {
        if let bare = order?.takeUnresolved() { return bare }
        guard order?.isWithinShare(host, with: name) == true else { return nil }
        return order?.takeSpare()
    }
}

extension ServiceBrowse {
    /// How many omitted services return at a time.
    private static let returning = 512

    /// Makes room for a service if necessary. A service of which nothing is known replaces only one that does not
    /// answer.
    /// - Returns: whether there is room.
    mutating func admit(_ name: DomainName, _ link: inout LinkQuerier, at now: Duration) -> Bool {
        guard services.count >= room.limit else {
            room.added(name, on: nil)
            return true
        }
        if !room.isRemembering { room.begin(services) }
        if room.leftOut(at: now) {
            facts.append(.degraded("more than \(room.limit) services on \(interface.name): the rest is left out"))
        }
        let host = announcedHost(of: name, link.cache)
        if let silent = room.takeFailing(services) {
            room.givenUp.insert(silent)
            evict(silent, &link)
        } else if let host, let victim = room.takeVictim(for: name, on: host) {
            evict(victim, &link)
        } else {
            return false
        }
        // With its host, so that it does not give way to the next of its packet.
        room.added(name, on: host)
        return true
    }

    private func announcedHost(of name: DomainName, _ cache: RecordCache) -> DomainName? {
        guard cache.isAnswered(RecordKey(name, .srv)) else { return nil }
        return ServiceRecords(of: name, in: cache, scope: interface.index).targets.first?.host
    }

    private mutating func evict(_ name: DomainName, _ link: inout LinkQuerier) {
        if let service = services[name], service.isSighted { facts.append(.disappeared(sighting(of: service))) }
        release(name, &link)
    }

    /// Brings back some omitted services once a second, if there is room or others do not answer.
    mutating func lookForRoom(_ link: inout LinkQuerier, at now: Duration) {
        guard let look = room.nextLook, look <= now else { return }
        room.nextLook = now + .seconds(1)
        guard services.count < room.limit || room.hasFailing else { return }
        // One more than needed shows whether these are all.
        let waiting = link.cache.data(key, atMost: Self.returning + 1) { data in
            guard case .ptr(let name) = data, services[name] == nil, !room.givenUp.contains(name) else { return false }
            return serviceName(name) != nil
        }
        for data in waiting.prefix(Self.returning) where services.count < room.limit || room.hasFailing {
            listed(data, &link, at: now)
        }
        evaluateSome(&link, at: now)
        guard waiting.count <= Self.returning, services.count < room.limit else { return }
        if room.givenUp.isEmpty { room.end() } else { room.givenUp = [] }
    }
}
