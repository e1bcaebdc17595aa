import DNSMessage
import DNSSD
import Discovery

/// Decides which services give way in a graph that has reached its limit, and notes whether some were left out.
struct GraphRoom: Sendable {
    /// The number of services of one sender that keep their room against others.
    private static let share = 64

    /// The most that this one keeps now.
    var limit: Int
    /// Whether services were left out, and are looked for when there is room.
    private(set) var isLeavingOut = false
    /// When to look for room.
    private(set) var nextLook: Duration?
    /// Looks in a row that found nothing to bring back, and the last one.
    private var idleLooks = 0
    private var lastLook = Duration.zero
    /// Names that gave way because no one answered for them; retried only after all others.
    var givenUp: Set<DomainName> = []
    private var order: EvictionOrder<DomainName, UInt16>?
    /// Services that do not answer, the latest last; some may have answered since, or be gone.
    private var failing: [DomainName] = []

    init(limit: Int) { self.limit = limit }

    var isRemembering: Bool { order != nil }

    /// The limit is reached: starts to track which services give way.
    mutating func begin(_ services: [DomainName: ServiceGraph.Service]) {
        var order = EvictionOrder<DomainName, UInt16>(share: Self.share)
        for (name, service) in services.sorted(by: { $0.value.number < $1.value.number }) {
            order.add(name, to: service.told == nil ? nil : service.sender)
            if service.isFailing { failing.append(name) }
        }
        self.order = order
    }

    /// There is room again.
    mutating func end() { self = GraphRoom(limit: limit) }

    /// - Parameter sender: who sent its SRV record; nil: there is none.
    mutating func added(_ name: DomainName, by sender: UInt16?) { order?.add(name, to: sender) }
    mutating func failed(_ name: DomainName) { if isRemembering { failing.append(name) } }
    mutating func removed(_ name: DomainName) {
        order?.remove(name)
        // There may be room again: looks once a second.
        guard idleLooks > 0 else { return }
        idleLooks = 0
        nextLook = lastLook + .seconds(1)
    }
    mutating func forget(_ name: DomainName) { givenUp.remove(name) }

    /// - Returns: whether it is the first omission.
    mutating func leftOut(at now: Duration) -> Bool {
        if nextLook == nil { nextLook = now + .seconds(1) }
        defer { isLeavingOut = true }
        return !isLeavingOut
    }

    /// Looks for room, and again in a second; less often, each minute at last, while there is nothing to bring back: a look goes through every record.
    mutating func look(at now: Duration) { (lastLook, nextLook) = (now, now + .seconds(1 << idleLooks)) }
    mutating func foundNothing() {
        idleLooks = min(idleLooks + 1, 6)
        nextLook = lastLook + .seconds(1 << idleLooks)
    }

    /// Removes one that does not answer.
    mutating func takeFailing(_ services: [DomainName: ServiceGraph.Service]) -> DomainName? {
        while let name = failing.popLast() {
            if let service = services[name], service.isFailing, service.told == nil { return name }
        }
        return nil
    }

    var hasFailing: Bool { !failing.isEmpty }

    /// Removes one that gives way where there is less room: the latest that nothing is known of, or else of the largest sender.
    mutating func takeSurplus() -> DomainName? { order?.takeUnresolved() ?? order?.takeSpare() }

    /// Removes one that gives way to a resolved service.
    mutating func takeVictim(for name: DomainName, by sender: UInt16) -> DomainName? {
        if let bare = order?.takeUnresolved() { return bare }
        guard order?.isWithinShare(sender, with: name) == true else { return nil }
        return order?.takeSpare()
    }
}

extension ServiceGraph {
    /// How many omitted services return at a time.
    private static let returning = 512

    /// Makes room for a service if necessary. A service of which nothing is known replaces only one that does not
    /// answer.
    /// - Returns: whether there is room.
    mutating func admit<Source: RecordSource>(_ name: DomainName, _ source: inout Source, at now: Duration) -> Bool {
        guard services.count >= room.limit else {
            room.added(name, by: nil)
            return true
        }
        if !room.isRemembering { room.begin(services) }
        noteOmission(at: now)
        let sender = source.records(RecordKey(name, .srv)).first { !$0.isEnding }?.sender
        if let silent = room.takeFailing(services) {
            room.givenUp.insert(silent)
            evict(silent, &source)
        } else if let sender, let victim = room.takeVictim(for: name, by: sender) {
            evict(victim, &source)
        } else {
            return false
        }
        // With its source, so that it does not give way to the next of its packet.
        room.added(name, by: sender)
        return true
    }

    /// How many services it keeps, or would keep if it could.
    package var wanted: Int { room.isLeavingOut ? Self.most : services.count }

    /// There is less room, or more: others keep services, too.
    package mutating func keep<Source: RecordSource>(atMost limit: Int, _ source: inout Source, at now: Duration) {
        room.limit = min(limit, Self.most)
        guard services.count > limit else { return }
        if !room.isRemembering { room.begin(services) }
        noteOmission(at: now)
        while services.count > limit, let name = room.takeFailing(services) ?? room.takeSurplus() {
            evict(name, &source)
        }
        // Of many senders with little each, whoever came last.
        guard services.count > limit else { return }
        let latest = services.sorted { $0.value.number > $1.value.number }.prefix(services.count - limit)
        for (name, _) in latest { evict(name, &source) }
    }

    private mutating func noteOmission(at now: Duration) {
        guard room.leftOut(at: now) else { return }
        let place = origin.interface.map { "on \($0.name)" } ?? "in \(query.domain)"
        facts.append(.degraded("more than \(room.limit) services \(place): the rest is left out"))
    }

    private mutating func evict<Source: RecordSource>(_ name: DomainName, _ source: inout Source) {
        // Not expected back soon, so that whoever comes for it need not wait.
        if let service = services[name], service.isSighted { facts.append(.withdrawn(sighting(of: service))) }
        release(name, &source)
    }

    /// Brings back some omitted services once a second, if there is room or others do not answer.
    mutating func lookForRoom<Source: RecordSource>(_ source: inout Source, at now: Duration) {
        guard let look = room.nextLook, look <= now else { return }
        room.look(at: now)
        guard services.count < room.limit || room.hasFailing else { return }
        // One more than needed shows whether these are all.
        let waiting = source.data(key, atMost: Self.returning + 1) { data in
            guard case .ptr(let name) = data, services[name] == nil, !room.givenUp.contains(name) else { return false }
            return serviceName(name) != nil
        }
        if waiting.isEmpty { room.foundNothing() }
        for data in waiting.prefix(Self.returning) where services.count < room.limit || room.hasFailing {
            listed(data, &source, at: now)
        }
        evaluate(&source, at: now)
        guard waiting.count <= Self.returning, services.count < room.limit else { return }
        if room.givenUp.isEmpty { room.end() } else { room.givenUp = [] }
    }
}
