package import DNSSD
internal import Discovery

/// One rule's exports: what is seen on the link, what is in the zone, and what to do next.
///
/// A value that is told what is seen and a time. A link that flaps, or lies, costs the zone a bounded number of updates: a service
/// is exported after it was there for 5 s, changed every 10 s at most, withdrawn after it was gone for 60 s, and all of them together have
/// 90 updates, and 5 more each second.
package struct ExportTable: Sendable {
    /// Services of one type.
    static let mostOfType = 90
    /// Refused services that are known by name.
    static let mostRefused = 1024
    static let presence = Duration.seconds(5)
    static let absence = Duration.seconds(60)
    static let betweenChanges = Duration.seconds(10)
    static let burst = 90
    static let perSecond = 5

    /// What to do with a service of the link.
    package enum Action: Hashable, Sendable {
        case publish(ServiceInstance, Export)
        case change(ServiceInstance, Export)
        case withdraw(ServiceInstance)
    }

    private struct Entry {
        /// What it is to be in the zone; nil: nothing.
        var wanted: Export?
        /// What it is in the zone; nil: nothing.
        var published: Export?
        /// Since when it has been wanted, or not.
        var since: Duration
        /// When it was last changed in the zone.
        var changed: Duration

        /// When its next action is due.
        var due: Duration? {
            switch (wanted, published) {
            case (.some, nil): since + presence
            case (nil, .some): since + absence
            case (let wanted?, let published?): wanted == published ? nil : changed + betweenChanges
            case (nil, nil): nil
            }
        }
    }

    private var entries: [ServiceInstance: Entry] = [:]
    private var refused: [ServiceInstance: ExportRefusal] = [:]
    /// Of the refused those for which there was no room.
    private var waiting: [ServiceInstance: (service: OfferedService, host: HostName, addresses: [IPAddress])] = [:]
    private var hosts = HostNumbers()
    /// Updates that may be made now, as of `refilled`.
    private var tokens = Double(Self.burst)
    private var refilled: Duration

    package init(at now: Duration) { refilled = now }

    /// A service is there, or has changed.
    package mutating func saw(_ service: DiscoveredService, _ admission: ExportAdmission, at now: Duration) {
        let instance = service.instance
        switch admission.judge(service) {
        case nil: break
        case .failure(let failure):
            waiting[instance] = nil
            gone(instance, at: now)
            note(failure.refusal, of: instance)
        case .success(let (offered, addresses)):
            guard let name = service.host else { return }
            guard entries[instance] != nil || count(of: offered.type) < Self.mostOfType else {
                note(.tooMany, of: instance)
                if refused[instance] != nil { waiting[instance] = (offered, name, addresses) }
                return
            }
            refused[instance] = nil
            waiting[instance] = nil
            want(instance, offered, name, addresses, at: now)
        }
    }

    private mutating func want(
        _ instance: ServiceInstance, _ offered: OfferedService, _ name: HostName, _ addresses: [IPAddress],
        at now: Duration
    ) {
        var entry = entries[instance] ?? Entry(since: now, changed: now - Self.betweenChanges)
        let export = Export(
            service: offered, linkHost: name, host: hosts.number(of: name, for: instance), addresses: addresses)
        if entry.wanted == nil { entry.since = now }
        entry.wanted = export
        entries[instance] = entry
    }

    /// A service is gone.
    package mutating func lost(_ instance: ServiceInstance, at now: Duration) {
        refused[instance] = nil
        waiting[instance] = nil
        gone(instance, at: now)
    }

    private mutating func gone(_ instance: ServiceInstance, at now: Duration) {
        guard var entry = entries[instance], entry.wanted != nil else { return }
        entry.wanted = nil
        entry.since = now
        entries[instance] = entry
        if entry.published == nil { forget(instance, at: now) }
    }

    /// Makes room for one that waits.
    private mutating func forget(_ instance: ServiceInstance, at now: Duration) {
        entries[instance] = nil
        hosts.release(instance)
        guard let (next, values) = waiting.first(where: { $0.key.type.base == instance.type.base }) else { return }
        waiting[next] = nil
        refused[next] = nil
        want(next, values.service, values.host, values.addresses, at: now)
    }

    private mutating func note(_ refusal: ExportRefusal, of instance: ServiceInstance) {
        guard refused[instance] != nil || refused.count < Self.mostRefused else { return }
        refused[instance] = refusal
    }

    private func count(of type: ServiceType) -> Int { entries.keys.count { $0.type.base == type } }

    /// What is due, in the order in which it became due; as much as the rate allows.
    package mutating func due(at now: Duration) -> [Action] {
        refill(at: now)
        let ready = entries.compactMap { instance, entry in
            entry.due.flatMap { $0 <= now ? (instance: instance, due: $0) : nil }
        }.sorted { ($0.due, $0.instance) < ($1.due, $1.instance) }
        var actions: [Action] = []
        for (instance, _) in ready where tokens >= 1 {
            guard var entry = entries[instance] else { continue }
            tokens -= 1
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

    /// When to look again; nil: at the next news.
    package var next: Duration? {
        guard let first = entries.values.compactMap(\.due).min() else { return nil }
        return tokens >= 1 ? first : max(first, refilled + .seconds(1) / Self.perSecond)
    }

    private mutating func refill(at now: Duration) {
        let seconds = (now - refilled) / .seconds(1)
        tokens = min(Double(Self.burst), tokens + max(0, seconds) * Double(Self.perSecond))
        refilled = max(refilled, now)
    }

    /// How many services are in the zone.
    package var published: Int { entries.values.count { $0.published != nil } }

    /// How many services of the link are refused now, by reason.
    package var refusals: [ExportRefusal: Int] { Dictionary(refused.values.map { ($0, 1) }, uniquingKeysWith: +) }
}

/// Numbers of a link's hosts: the smallest that is free, kept as long as a service has it.
private struct HostNumbers {
    private var numbers: [HostName: Int] = [:]
    private var users: [HostName: Set<ServiceInstance>] = [:]
    private var hosts: [ServiceInstance: HostName] = [:]

    mutating func number(of host: HostName, for instance: ServiceInstance) -> Int {
        if hosts[instance] != host {
            release(instance)
            hosts[instance] = host
            users[host, default: []].insert(instance)
        }
        if let number = numbers[host] { return number }
        let taken = Set(numbers.values)
        let number = (1...taken.count + 1).first { !taken.contains($0) } ?? taken.count + 1
        numbers[host] = number
        return number
    }

    mutating func release(_ instance: ServiceInstance) {
        guard let host = hosts.removeValue(forKey: instance) else { return }
        users[host]?.remove(instance)
        guard users[host]?.isEmpty ?? true else { return }
        users[host] = nil
        numbers[host] = nil
    }
}
