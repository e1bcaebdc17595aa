import DNSMessage
import DNSSD
import Discovery

/// What a browse that keeps no more services remembers: who gives way, and what was left out.
struct BrowseRoom: Sendable {
    /// Services of one host that others do not take the room of.
    private static let share = 64

    let limit: Int
    /// Something was left out, and is looked for when there is room.
    private(set) var isLeavingOut = false
    /// When to look for room.
    var nextLook: Duration?
    /// Names that nobody answered for and that gave way: not tried again before all others were.
    var givenUp: Set<DomainName> = []
    private var order: EvictionOrder<DomainName, DomainName>?
    /// Those that do not answer, the last at the end; some may answer again, or be gone.
    private var failing: [DomainName] = []

    init(limit: Int) { self.limit = limit }

    var isRemembering: Bool { order != nil }

    /// There is no more room: from now on it is known who gives way.
    mutating func begin(_ services: [DomainName: ServiceBrowse.Service]) {
        var order = EvictionOrder<DomainName, DomainName>(share: Self.share)
        for (name, service) in services.sorted(by: { $0.value.number < $1.value.number }) {
            order.add(name, to: service.told == nil ? nil : service.hosts.first)
            if service.isFailing { failing.append(name) }
        }
        self.order = order
    }

    /// There is room enough again.
    mutating func end() { self = BrowseRoom(limit: limit) }

    mutating func added(_ name: DomainName) { order?.add(name, to: nil) }
    mutating func resolved(_ name: DomainName, on host: DomainName) { order?.add(name, to: host) }
    mutating func failed(_ name: DomainName) { if isRemembering { failing.append(name) } }
    mutating func removed(_ name: DomainName) { order?.remove(name) }
    mutating func forget(_ name: DomainName) { givenUp.remove(name) }

    /// - Returns: whether that is news.
    mutating func leftOut(at now: Duration) -> Bool {
        if nextLook == nil { nextLook = now + .seconds(1) }
        defer { isLeavingOut = true }
        return !isLeavingOut
    }

    /// One that does not answer.
    mutating func takeFailing(_ services: [DomainName: ServiceBrowse.Service]) -> DomainName? {
        while let name = failing.popLast() {
            if let service = services[name], service.isFailing, service.told == nil { return name }
        }
        return nil
    }

    var hasFailing: Bool { !failing.isEmpty }

    /// One that gives way to a service that is resolved.
    mutating func takeVictim(for name: DomainName, on host: DomainName?) -> DomainName? {
        if let bare = order?.takeUnresolved() { return bare }
        guard let host, order?.isWithinShare(host, with: name) == true else { return nil }
        return order?.takeSpare()
    }
}

extension ServiceBrowse {
    /// So many that were left out come back at a time.
    private static let returning = 512

    /// Makes room for a service if it must. One that nothing is known of gets only the place of one that does not answer.
    mutating func admit(_ name: DomainName, _ link: inout LinkQuerier, at now: Duration) -> Bool {
        guard services.count >= room.limit else {
            room.added(name)
            return true
        }
        if !room.isRemembering { room.begin(services) }
        if room.leftOut(at: now) {
            facts.append(.degraded("more than \(room.limit) services on \(interface.name): the rest is left out"))
        }
        if let silent = room.takeFailing(services) {
            room.givenUp.insert(silent)
            evict(silent, &link)
        } else if let victim = victim(for: name, link.cache) {
            evict(victim, &link)
        } else {
            return false
        }
        room.added(name)
        return true
    }

    private mutating func victim(for name: DomainName, _ cache: RecordCache) -> DomainName? {
        guard cache.isAnswered(RecordKey(name, .srv)) else { return nil }
        let target = ServiceRecords(of: name, in: cache, scope: interface.index).targets.first
        return room.takeVictim(for: name, on: target?.host)
    }

    private mutating func evict(_ name: DomainName, _ link: inout LinkQuerier) {
        if let service = services[name], service.isSighted { facts.append(.disappeared(sighting(of: service))) }
        release(name, &link)
    }

    /// What was left out comes back when there is room again, or something does not answer: some of it once a second.
    mutating func lookForRoom(_ link: inout LinkQuerier, at now: Duration) {
        guard let look = room.nextLook, look <= now else { return }
        room.nextLook = now + .seconds(1)
        guard services.count < room.limit || room.hasFailing else { return }
        // One more than is tried tells whether that is all.
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
