import DNSMessage
package import DNSSD
package import Discovery

/// One `ServiceQuery` on one link: asks for what it needs, and says what the records that come and go mean for it.
///
/// A value that is told changes of the link's cache and a time. Additional records come first: only what is missing a little later is asked
/// for.
package struct ServiceBrowse: LinkBrowse {
    /// How long additional records may lag behind those that they belong to.
    private static let additionalsDelay = Duration.milliseconds(20)
    /// The same for one name, whose answer comes at once and in one packet for each family.
    private static let answerDelay = Duration.milliseconds(5)
    /// After so long without TXT a service that is complete otherwise is reported without it.
    private static let textPatience = Duration.milliseconds(1500)
    /// After so long without an answer a service counts as one that does not answer.
    private static let patience = Duration.seconds(5)
    /// Services kept of one browse.
    private static let limit = 32_768

    private struct Service {
        let instance: ServiceInstance
        let since: Duration
        var isSighted = false
        var isOwn = false
        /// The hosts of its SRV records.
        var hosts: [DomainName] = []
        /// The last resolution that was reported.
        var told: Resolution?
        /// It is complete but for addresses of one family, and reported so at this time.
        var heldUntil: Duration?
        var isFailing = false
    }

    private let query: ServiceQuery
    private let interface: NetworkInterface
    private let question: DomainName
    /// The type and domain that names must have.
    private let parent: DomainName
    private let resolvesServices: Bool
    private let delay: Duration
    private var services: [DomainName: Service] = [:]
    /// The services on each host that is asked for, and the host's name for people.
    private var hosts: [DomainName: (users: Set<DomainName>, name: HostName?)] = [:]
    private var held: DueQueue
    private var withoutText = DueQueue(after: textPatience)
    private var unanswered = DueQueue(after: patience)
    private var facts: [BrowseFact] = []
    /// More was there than is kept.
    private var isFull = false

    /// Nil for names that cannot be asked for: longer than 255 bytes.
    package init?(_ query: ServiceQuery, on interface: NetworkInterface) {
        self.query = query
        self.interface = interface
        resolvesServices = query.resolution != .none
        switch query.target {
        case .type(let type, let domain):
            guard let listing = DomainName(listing: type, in: domain),
                let parent = DomainName(listing: type.base, in: domain)
            else { return nil }
            (question, self.parent, delay) = (listing, parent, Self.additionalsDelay)
        case .instance(let instance):
            guard let name = DomainName(instance), let parent = name.parent else { return nil }
            (question, self.parent, delay) = (name, parent, Self.answerDelay)
        }
        held = DueQueue(after: delay)
    }

    private var origin: Origin { .link(interface) }
    package var isForOne: Bool { if case .instance = query.target { true } else { false } }

    /// The question that says what there is.
    package var key: RecordKey { RecordKey(question, isForOne ? .srv : .ptr) }

    /// Services that are seen and not resolved.
    package var unresolved: Int {
        resolvesServices ? services.values.count { $0.isSighted && $0.told == nil && !$0.isFailing } : 0
    }

    /// Whether the one that is asked for was reported.
    package var hasAnswer: Bool { services.values.contains(where: \.isSighted) }

    /// When `advance` has something to do; nil when never.
    package var deadline: Duration? {
        [held.deadline, withoutText.deadline, unanswered.deadline].compactMap(\.self).min()
    }

    /// Facts since the last call.
    package mutating func takeFacts() -> [BrowseFact] {
        defer { facts = [] }
        return facts
    }

    // MARK: Events

    /// Begins to ask; what the cache knows already is reported.
    package mutating func begin(_ link: inout LinkQuerier, at now: Duration) {
        guard isForOne else {
            link.ask(key, .shared, at: now)
            for record in link.cache.records(key) { listed(record.data, &link, at: now) }
            return
        }
        guard case .instance(let instance) = query.target else { return }
        services[question] = Service(instance: instance, since: now)
        link.ask(key, .unique(after: .zero), at: now)
        link.ask(RecordKey(question, .txt), .unique(after: .zero), at: now)
        unanswered.add(question, at: now)
        evaluate(question, &link, at: now)
    }

    /// Ends: nothing is asked for it any more.
    package mutating func end(_ link: inout LinkQuerier) {
        for name in Array(services.keys) { release(name, &link) }
        if !isForOne { link.stop(key) }
    }

    /// The link's cache has changed.
    package mutating func changed(_ changes: [RecordCache.Change], _ link: inout LinkQuerier, at now: Duration) {
        var affected: [DomainName] = []
        for change in changes {
            let (key, data, isAdded) = change.parts
            if key == self.key, !isForOne {
                if isAdded { listed(data, &link, at: now) } else { delisted(data, &link, at: now) }
            } else if key.type == .srv || key.type == .txt {
                if services[key.name] != nil { affected.append(key.name) }
            } else if let users = hosts[key.name]?.users {
                affected += users
            }
        }
        guard !affected.isEmpty else { return }
        var done: Set<DomainName> = []
        for name in affected where done.insert(name).inserted { evaluate(name, &link, at: now) }
    }

    /// Time has passed.
    package mutating func advance(to now: Duration, _ link: inout LinkQuerier) {
        for name in held.takeDue(at: now) + withoutText.takeDue(at: now) where services[name]?.told == nil {
            evaluate(name, &link, at: now)
        }
        for name in unanswered.takeDue(at: now) {
            // It may have been of an earlier life of the name.
            guard let service = services[name], service.told == nil, now - service.since >= Self.patience else {
                continue
            }
            failed(name, link.cache, at: now)
        }
    }

    /// The link is gone: that says nothing of its services.
    package mutating func hide() {
        for service in services.values where service.isSighted { facts.append(.hidden(sighting(of: service))) }
    }

    // MARK: Services come and go

    private mutating func listed(_ data: RecordData, _ link: inout LinkQuerier, at now: Duration) {
        // A PTR record may lead anywhere (RFC 6763 §4.1): only services of this type in this domain count.
        guard case .ptr(let name) = data, services[name] == nil, let label = name.label(below: parent),
            let serviceName = ServiceName(label: label), case .type(let type, let domain) = query.target
        else { return }
        guard services.count < Self.limit else {
            if !isFull {
                facts.append(.degraded("more than \(Self.limit) services on \(interface.name): the rest is left out"))
            }
            isFull = true
            return
        }
        var service = Service(
            instance: ServiceInstance(name: serviceName, type: type, domain: domain), since: now)
        service.isSighted = true
        service.isOwn = link.cache.isOwn(key, data)
        services[name] = service
        facts.append(.appeared(sighting(of: service)))
        if resolvesServices {
            link.ask(RecordKey(name, .srv), .unique(after: delay), at: now)
            link.ask(RecordKey(name, .txt), .unique(after: delay), at: now)
            withoutText.add(name, at: now)
            unanswered.add(name, at: now)
        }
        evaluate(name, &link, at: now)
    }

    private mutating func delisted(_ data: RecordData, _ link: inout LinkQuerier, at now: Duration) {
        guard case .ptr(let name) = data, let service = services[name] else { return }
        ended(name, service, link.cache, at: now)
        release(name, &link)
        services[name] = nil
    }

    /// Where the host says nothing of itself leaving, its service will not be back in a moment. A responder that starts anew announces its
    /// addresses first; one that ends soon after its link came up says goodbye only for what it shares, as the rest is being probed.
    private mutating func ended(_ name: DomainName, _ service: Service, _ cache: RecordCache, at now: Duration) {
        let isHostThere = service.hosts.contains {
            (cache.isAnswered(RecordKey($0, .a)) || cache.isAnswered(RecordKey($0, .aaaa)))
                && !cache.hasLeft($0, since: now - Self.patience)
        }
        let isWithdrawn = isHostThere && !cache.isAnswered(RecordKey(name, .srv))
        facts.append(isWithdrawn ? .withdrawn(sighting(of: service)) : .disappeared(sighting(of: service)))
    }

    private mutating func release(_ name: DomainName, _ link: inout LinkQuerier) {
        guard let service = services[name] else { return }
        for host in service.hosts { leave(host, name, &link) }
        guard resolvesServices || isForOne else { return }
        link.stop(RecordKey(name, .srv))
        link.stop(RecordKey(name, .txt))
    }

    private func sighting(of service: Service) -> Sighting {
        Sighting(instance: service.instance, origin: origin, family: nil, isOwn: service.isOwn)
    }

    // MARK: Resolving

    private mutating func evaluate(_ name: DomainName, _ link: inout LinkQuerier, at now: Duration) {
        guard var service = services[name] else { return }
        let records = ServiceRecords(of: name, in: link.cache, scope: interface.index)
        follow(records.targets.map(\.host), of: name, &service, &link, at: now)
        services[name] = service
        guard resolvesServices || isForOne else { return }
        let isComplete =
            resolvesServices
            ? records.isDialable && (records.text != nil || now - service.since >= Self.textPatience)
            : !records.targets.isEmpty
        guard isComplete else {
            if service.told != nil { failed(name, link.cache, at: now) }
            return
        }
        // The rest of it is on its way.
        if resolvesServices, service.told == nil, !records.hasBothFamilies, service.heldUntil.map({ now < $0 }) ?? true
        {
            if service.heldUntil == nil {
                services[name]?.heldUntil = now + delay
                held.add(name, at: now)
            }
            return
        }
        tell(name, records, link.cache)
    }

    private mutating func tell(_ name: DomainName, _ records: ServiceRecords, _ cache: RecordCache) {
        guard var service = services[name],
            let resolution = records.resolution(of: service.instance, at: origin, host: { hosts[$0]?.name })
        else { return }
        let isOwn = records.isOwn && (isForOne || cache.isOwn(key, .ptr(name)))
        if !service.isSighted || service.isOwn != isOwn {
            (service.isSighted, service.isOwn) = (true, isOwn)
            facts.append(.appeared(sighting(of: service)))
        }
        if resolvesServices, service.told != resolution { facts.append(.resolved(resolution)) }
        service.told = resolution
        service.isFailing = false
        services[name] = service
    }

    /// Nothing answers for a service that is listed, or the one that is asked for is gone.
    private mutating func failed(_ name: DomainName, _ cache: RecordCache, at now: Duration) {
        guard var service = services[name], !service.isFailing else { return }
        if isForOne {
            if service.isSighted { ended(name, service, cache, at: now) }
            service.isSighted = false
        } else {
            facts.append(.resolutionFailed(service.instance, origin))
            service.isFailing = true
        }
        service.told = nil
        service.heldUntil = nil
        services[name] = service
    }

    /// Asks for the addresses of a service's hosts, and no longer for those of others.
    private mutating func follow(
        _ targets: [DomainName], of name: DomainName, _ service: inout Service, _ link: inout LinkQuerier,
        at now: Duration
    ) {
        // Without SRV the last host is kept: whether it is there says how the service ended.
        guard !targets.isEmpty, targets != service.hosts else { return }
        let old = service.hosts
        service.hosts = targets
        for host in Set(targets).subtracting(old) {
            if hosts[host] == nil {
                hosts[host] = ([], HostName(labels: host.labels))
                if resolvesServices {
                    link.ask(RecordKey(host, .a), .unique(after: delay), at: now)
                    link.ask(RecordKey(host, .aaaa), .unique(after: delay), at: now)
                }
            }
            hosts[host]?.users.insert(name)
        }
        for host in Set(old).subtracting(targets) { leave(host, name, &link) }
    }

    private mutating func leave(_ host: DomainName, _ name: DomainName, _ link: inout LinkQuerier) {
        guard hosts[host]?.users.remove(name) != nil, hosts[host]?.users.isEmpty == true else { return }
        hosts[host] = nil
        guard resolvesServices else { return }
        link.stop(RecordKey(host, .a))
        link.stop(RecordKey(host, .aaaa))
    }
}
