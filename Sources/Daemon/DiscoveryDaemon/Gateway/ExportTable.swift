package import DNSSD
internal import Discovery

/// How long services are held before they are published elsewhere, changed and withdrawn, and how many updates that may need.
package struct ExportPace: Hashable, Sendable {
    /// How long a service has to be there.
    var presence: Duration
    /// How long it has to be gone.
    var absence: Duration
    var betweenChanges: Duration
    /// Updates at once, and further ones each second.
    var burst: Double
    var perSecond: Double

    /// A server writes each update to a disk, and others read it from their caches.
    static let zone = ExportPace(
        presence: .seconds(5), absence: .seconds(60), betweenChanges: .seconds(10), burst: 90, perSecond: 5)
    /// Who looks at the other link sees what is there, a second later at most. What flaps is held back by the query: a change of a service,
    /// or its return, comes once a second. With subtypes it waits for their answers, each up to 120 ms (RFC 6762 §6): it is published once.
    static func link(hasSubtypes: Bool = false) -> ExportPace {
        ExportPace(
            presence: hasSubtypes ? .milliseconds(500) : .zero, absence: .zero, betweenChanges: .zero, burst: 400,
            perSecond: 100)
    }
    /// A list in memory, which those who follow it read at their pace.
    static let list = ExportPace(presence: .zero, absence: .zero, betweenChanges: .zero, burst: 1e6, perSecond: 1e6)
}

/// One rule's exports: what is seen on the link, what is in the zone, and what to do next.
///
/// A value that is told what is seen and a time. A link that flaps, or lies, costs the zone a bounded number of updates: a service
/// is exported after it was there for 5 s, changed every 10 s at most, withdrawn after it was gone for 60 s, and all of them together have
/// 90 updates, and 5 more each second, besides the renewals of leases; another link's `ExportPace` has other numbers. No host keeps others out: where there are 90 of a type, the
/// youngest service of the greediest gives way to one of a host that has fewer.
package struct ExportTable: Sendable {
    /// Services of one type.
    static let mostOfType = 90
    /// Refused services that are known by name.
    static let mostRefused = 1024

    /// What to do with a service of the link.
    package enum Action: Hashable, Sendable {
        case publish(ServiceInstance, Export)
        case change(ServiceInstance, Export)
        case withdraw(ServiceInstance)
    }

    private struct Entry {
        /// The order in which entries were made.
        let number: UInt64
        /// What it is to be in the zone; nil: nothing.
        var wanted: Export?
        /// What it is in the zone; nil: nothing.
        var published: Export?
        /// It leaves the zone at once, for another host's.
        var givesWay = false
        /// Since when it has been wanted, or not.
        var since: Duration
        /// When it was last changed in the zone.
        var changed: Duration

        var addresses: [IPAddress] { (wanted ?? published)?.addresses ?? [] }

        /// When its next action is due.
        func due(_ pace: ExportPace) -> Duration? {
            switch (wanted, published) {
            case (.some, nil): since + pace.presence
            case (nil, .some): givesWay ? since : since + pace.absence
            case (let wanted?, let published?): wanted == published ? nil : changed + pace.betweenChanges
            case (nil, nil): nil
            }
        }
    }

    private var entries: [ServiceInstance: Entry] = [:]
    private var lastNumber: UInt64 = 0
    private var refused: [ServiceInstance: ExportRefusal] = [:]
    /// Of the refused those for which there was no room.
    private var waiting: [ServiceInstance: (candidate: Export, number: UInt64)] = [:]
    /// What the other link has by itself, and on which host.
    private var others: [ServiceInstance: HostName] = [:]
    /// Services whose host offers them there itself.
    private var withheld: [ServiceInstance: Export] = [:]
    /// Nothing is published before: it is not known yet what the other link has.
    private var opens: Duration
    private var updates: TokenBucket
    private let pace: ExportPace

    /// - Parameter opens: when something is published at the earliest.
    package init(at now: Duration, pace: ExportPace = .zone, opens: Duration? = nil) {
        self.pace = pace
        self.opens = opens ?? now
        updates = TokenBucket(burst: pace.burst, perSecond: pace.perSecond)
    }

    /// A service is there, or has changed.
    package mutating func saw(_ service: DiscoveredService, _ admission: ExportAdmission, at now: Duration) {
        let instance = service.instance
        let entry = entries[instance]
        switch admission.judge(service, as: entry?.wanted ?? entry?.published) {
        case nil: break
        case .failure(let refusal):
            (waiting[instance], withheld[instance]) = (nil, nil)
            gone(instance, at: now)
            note(refusal, of: instance)
        case .success(let candidate): take(instance, candidate, at: now)
        }
    }

    /// Whether a service is left out for what may pass without news of it, as when this machine gets an address on the link, or a host of another
    /// link goes.
    package func mayComeIn(_ instance: ServiceInstance) -> Bool {
        guard entries[instance]?.wanted == nil, waiting[instance] == nil else { return false }
        return switch refused[instance] {
        case .address, .route, .foreignHost, nil: true
        case .name, .unfit, .text, .original, .tooMany: false
        }
    }

    private mutating func take(_ instance: ServiceInstance, _ candidate: Export, at now: Duration) {
        guard others[instance] != candidate.linkHost else {
            waiting[instance] = nil
            gone(instance, at: now)
            note(.original, of: instance)
            if refused[instance] != nil { withheld[instance] = candidate }
            return
        }
        withheld[instance] = nil
        guard !isOfOtherLink(candidate, but: instance) else {
            waiting[instance] = nil
            gone(instance, at: now)
            return note(.foreignHost, of: instance)
        }
        let isIn = entries[instance].map { !$0.givesWay } ?? makeRoom(for: candidate, at: now)
        guard isIn else { return wait(instance, candidate) }
        refused[instance] = nil
        waiting[instance] = nil
        want(instance, candidate, at: now)
    }

    /// Whether a host of another link has the name of a candidate's.
    private func isOfOtherLink(_ candidate: Export, but instance: ServiceInstance) -> Bool {
        guard candidate.link != nil else { return false }
        return entries.contains { other, entry in
            guard other != instance, let export = entry.wanted ?? entry.published else { return false }
            return export.linkHost == candidate.linkHost && export.link != candidate.link
        }
    }

    // MARK: Originals

    /// The other link has a service by itself, or has it no more.
    /// - Parameter host: on which host; nil: it is gone.
    package mutating func isThere(_ instance: ServiceInstance, on host: HostName?, at now: Duration) {
        guard others[instance] != host else { return }
        others[instance] = host
        guard let candidate = entries[instance]?.wanted ?? waiting[instance]?.candidate ?? withheld[instance],
            candidate.linkHost == host || withheld[instance] != nil
        else { return }
        take(instance, candidate, at: now)
    }

    /// It is known what the other link has.
    package mutating func othersAreKnown(at now: Duration) {
        opens = min(opens, now)
        for (instance, entry) in entries where entry.published == nil && entry.since > now {
            entries[instance]?.since = now
        }
    }

    private mutating func want(_ instance: ServiceInstance, _ candidate: Export, at now: Duration) {
        var entry =
            entries[instance] ?? Entry(number: nextNumber(), since: now, changed: now - pace.betweenChanges)
        var export = candidate
        // Each subtype has a query of its own; what one has found ends with the service.
        export.service.subtypes = Set(export.service.subtypes + (entry.wanted?.service.subtypes ?? [])).sorted()
        if entry.wanted == nil { entry.since = max(now, opens) }
        entry.wanted = export
        entries[instance] = entry
    }

    /// A service is gone.
    package mutating func lost(_ instance: ServiceInstance, at now: Duration) {
        refused[instance] = nil
        (waiting[instance], withheld[instance]) = (nil, nil)
        gone(instance, at: now)
    }

    private mutating func gone(_ instance: ServiceInstance, at now: Duration) {
        guard var entry = entries[instance], entry.wanted != nil else { return }
        entry.wanted = nil
        entry.since = now
        entries[instance] = entry
        if entry.published == nil { forget(instance, at: now) }
    }

    /// Makes room for one that waits: of the host that has the fewest, the first that came.
    private mutating func forget(_ instance: ServiceInstance, at now: Duration) {
        entries[instance] = nil
        let type = instance.type.base
        let shares = shares(of: type)
        guard shares.places < Self.mostOfType else { return }
        let next = waiting.filter { $0.key.type.base == type && entries[$0.key] == nil }
            .min {
                (shares[$0.value.candidate.addresses], $0.value.number) < (
                    shares[$1.value.candidate.addresses], $1.value.number
                )
            }
        guard let next else { return }
        waiting[next.key] = nil
        refused[next.key] = nil
        want(next.key, next.value.candidate, at: now)
    }

    // MARK: Room

    /// How the places of a type are shared.
    private func shares(of type: ServiceType) -> Shares {
        var shares = Shares()
        for (instance, entry) in entries where !entry.givesWay && instance.type.base == type { shares.add(entry) }
        return shares
    }

    /// Whether there is room, or is made: the youngest of the greediest host gives way if that makes their shares more equal.
    private mutating func makeRoom(for candidate: Export, at now: Duration) -> Bool {
        let type = candidate.service.type
        let shares = shares(of: type)
        guard shares.places >= Self.mostOfType else { return true }
        guard shares[candidate.addresses] + 1 < shares.greatest else { return false }
        let greediest = entries.filter { instance, entry in
            !entry.givesWay && instance.type.base == type && shares[entry.addresses] == shares.greatest
        }
        guard let (instance, entry) = greediest.max(by: { $0.value.number < $1.value.number }) else { return false }
        if let export = entry.wanted { wait(instance, export) }
        if entry.published == nil {
            entries[instance] = nil
        } else {
            entries[instance]?.wanted = nil
            entries[instance]?.givesWay = true
            entries[instance]?.since = now
        }
        return true
    }

    private mutating func wait(_ instance: ServiceInstance, _ candidate: Export) {
        note(.tooMany, of: instance)
        guard refused[instance] != nil else { return }
        waiting[instance] = (candidate, waiting[instance]?.number ?? nextNumber())
    }

    private mutating func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    private mutating func note(_ refusal: ExportRefusal, of instance: ServiceInstance) {
        guard refused[instance] != nil || refused.count < Self.mostRefused else { return }
        refused[instance] = refusal
    }

    // MARK: Updates

    /// What is due, in the order in which it became due; as much as the rate allows.
    package mutating func due(at now: Duration) -> [Action] {
        let ready = entries.compactMap { instance, entry in
            entry.due(pace).flatMap { $0 <= now ? (instance: instance, due: $0) : nil }
        }.sorted { ($0.due, $0.instance) < ($1.due, $1.instance) }
        var actions: [Action] = []
        for (instance, _) in ready {
            guard var entry = entries[instance] else { continue }
            guard updates.take(cost(of: entry), at: now) else { break }
            if let wanted = entry.wanted {
                actions.append(entry.published == nil ? .publish(instance, wanted) : .change(instance, wanted))
                entry.published = wanted
                entry.changed = now
                entries[instance] = entry
            } else {
                actions.append(.withdraw(instance))
                forget(instance, at: now)
            }
        }
        return actions
    }

    /// The updates that an entry's next action needs. A host is a publisher of its own: the first service brings its lease, its
    /// addresses and the proof that the server has all of it, the last one takes them away.
    private func cost(of entry: Entry) -> Double {
        func others(on host: HostName) -> Bool {
            entries.values.contains { $0.number != entry.number && $0.published?.linkHost == host }
        }
        let coming = entry.wanted.map { others(on: $0.linkHost) ? 1.0 : 4 }
        let going = entry.published.map { others(on: $0.linkHost) ? 2.0 : 4 }
        guard let wanted = entry.wanted, let published = entry.published else { return coming ?? going ?? 0 }
        var same = published.service
        same.txt = wanted.service.txt
        guard same == wanted.service, published.linkHost == wanted.linkHost else { return (coming ?? 0) + (going ?? 0) }
        return (same == published.service ? 0 : 1) + (wanted.addresses == published.addresses ? 0 : 1)
    }

    /// When to look again; nil: at the next news.
    package var next: Duration? {
        let first = entries.min { one, other in
            guard let due = one.value.due(pace) else { return false }
            return other.value.due(pace).map { (due, one.key) < ($0, other.key) } ?? true
        }
        guard let entry = first?.value, let due = entry.due(pace) else { return nil }
        return max(due, updates.next(cost(of: entry), at: .zero))
    }

    /// How many services are in the zone.
    package var published: Int { entries.values.count { $0.published != nil } }

    /// How many services of the link are refused now, by reason.
    package var refusals: [ExportRefusal: Int] { Dictionary(refused.values.map { ($0, 1) }, uniquingKeysWith: +) }
}

extension ExportTable {
    /// How many services each host has. A host is what has an address: names cost nothing.
    private struct Shares {
        /// Those that have a place.
        private(set) var places = 0
        /// The most that one host has.
        private(set) var greatest = 0
        private var counts: [IPAddress: Int] = [:]

        mutating func add(_ entry: Entry) {
            places += 1
            for address in entry.addresses {
                counts[address, default: 0] += 1
                greatest = max(greatest, counts[address] ?? 0)
            }
        }

        subscript(_ addresses: [IPAddress]) -> Int { addresses.map { counts[$0] ?? 0 }.max() ?? 0 }
    }
}
