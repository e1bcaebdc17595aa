import DNSMessage
package import DNSSD
package import Discovery
import WireNames

/// One `ServiceQuery` on one link: asks for what it needs, and says what the records that come and go mean for it.
///
/// A value that is told changes of the link's cache and a time. Additional records come first: only what is missing a little later is asked
/// for.
package struct ServiceBrowse: LinkBrowse {
    /// How long additional records may lag behind those that they belong to.
    private static let additionalsDelay = Duration.milliseconds(20)
    /// The same for one name, whose answer comes at once and in one packet for each family.
    private static let answerDelay = Duration.milliseconds(5)
    /// How long an A record may take. avahi-daemon leaves it out of what it sends over IPv6, says nothing twice in a second (RFC 6762 §6),
    /// and who asks once is told once.
    static let silence = Duration.milliseconds(1300)
    /// After so long without TXT a service that is complete otherwise is reported without it.
    static let textPatience = Duration.milliseconds(1500)
    /// After so long without an answer a service counts as one that does not answer.
    static let patience = Duration.seconds(5)
    /// Services that are looked at again, or given up, in one turn.
    static let evaluations = 128

    struct Service {
        let instance: ServiceInstance
        let since: Moment
        /// In which order services came.
        let number: UInt32
        /// The hosts of its SRV records.
        var hosts: [DomainName] = []
        /// The last resolution that was reported.
        var told: Resolution?
        /// Since then it is complete but for addresses of one family.
        var heldSince = Moment.never
        var isSighted = false
        var isOwn = false
        var isFailing = false
        var isHeldLonger = false
    }

    /// A host that is asked for.
    struct Host {
        /// Its services.
        var users: Set<DomainName> = []
        /// For people.
        let name: HostName?
        /// What was told of it last; its services share it.
        var addresses: [IPAddress] = []
    }

    let query: ServiceQuery
    let interface: NetworkInterface
    private let question: DomainName
    /// The type and domain that names must have.
    private let parent: DomainName
    let resolvesServices: Bool
    let delay: Duration
    var services: [DomainName: Service] = [:]
    private var lastNumber: UInt32 = 0
    var hosts: [DomainName: Host] = [:]
    var evaluated = EvaluationQueue()
    var held: DueQueue
    var heldLonger = DueQueue(after: silence)
    private var withoutText = DueQueue(after: textPatience)
    private var unanswered = DueQueue(after: patience)
    var facts: [BrowseFact] = []
    var room: BrowseRoom

    /// Nil for names that cannot be asked for: longer than 255 bytes.
    /// - Parameter limit: services kept.
    package init?(_ query: ServiceQuery, on interface: NetworkInterface, limit: Int = 32_768) {
        self.query = query
        self.interface = interface
        room = BrowseRoom(limit: limit)
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

    var origin: Origin { .link(interface) }
    package var isForOne: Bool { if case .instance = query.target { true } else { false } }

    /// The question that says what there is.
    package var key: RecordKey { RecordKey(question, isForOne ? .srv : .ptr) }

    /// Whether the one that is asked for was reported.
    package var hasAnswer: Bool { services.values.contains(where: \.isSighted) }

    /// When `advance` has something to do; nil when never.
    package var deadline: Duration? {
        // What was not done in the last turn is due.
        guard evaluated.isEmpty else { return .zero }
        return [held.deadline, heldLonger.deadline, withoutText.deadline, unanswered.deadline, room.nextLook]
            .compactMap(\.self).min()
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
            return evaluateSome(&link, at: now)
        }
        guard case .instance(let instance) = query.target else { return }
        services[question] = Service(instance: instance, since: Moment(now), number: 0)
        link.ask(key, .unique(after: .zero), at: now)
        link.ask(RecordKey(question, .txt), .unique(after: .zero), at: now)
        if resolvesServices { withoutText.add(question, at: now) }
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
        for change in changes {
            let (key, data, isAdded) = change.parts
            if key == self.key, !isForOne {
                if isAdded { listed(data, &link, at: now) } else { delisted(data, &link, at: now) }
            } else if key.type == .srv || key.type == .txt {
                if services[key.name] != nil {
                    evaluated.add(key.name)
                } else if isAdded, room.isLeavingOut, link.cache.has(self.key, .ptr(key.name)) {
                    // There was no room for it while nothing was known of it.
                    listed(.ptr(key.name), &link, at: now)
                }
            } else if hosts[key.name] != nil {
                evaluated.add(host: key.name)
            }
        }
        evaluateSome(&link, at: now)
    }

    /// Time has passed.
    package mutating func advance(to now: Duration, _ link: inout LinkQuerier) {
        let due =
            held.takeDue(at: now, atMost: Self.evaluations) + heldLonger.takeDue(at: now, atMost: Self.evaluations)
            + withoutText.takeDue(at: now, atMost: Self.evaluations)
        for name in due where services[name]?.told == nil { evaluated.add(name) }
        evaluateSome(&link, at: now)
        for name in unanswered.takeDue(at: now, atMost: Self.evaluations) {
            // It may have been of an earlier life of the name.
            guard let service = services[name], service.told == nil, now - service.since.time >= Self.patience else {
                continue
            }
            failed(name, link.cache, at: now)
        }
        lookForRoom(&link, at: now)
    }

    /// The link is gone: that says nothing of its services.
    package mutating func hide() {
        for service in services.values where service.isSighted { facts.append(.hidden(sighting(of: service))) }
    }

    // MARK: Services come and go

    mutating func listed(_ data: RecordData, _ link: inout LinkQuerier, at now: Duration) {
        // A PTR record may lead anywhere (RFC 6763 §4.1): only services of this type in this domain count.
        guard case .ptr(let name) = data, services[name] == nil, let serviceName = serviceName(name),
            case .type(let type, let domain) = query.target
        else { return }
        guard admit(name, &link, at: now) else { return }
        lastNumber &+= 1
        var service = Service(
            instance: ServiceInstance(name: serviceName, type: type, domain: domain), since: Moment(now),
            number: lastNumber)
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
        evaluated.add(name)
    }

    /// The name of a service of this type; nil for what is none.
    func serviceName(_ name: DomainName) -> ServiceName? {
        name.label(below: parent).flatMap { ServiceName(label: $0) }
    }

    private mutating func delisted(_ data: RecordData, _ link: inout LinkQuerier, at now: Duration) {
        guard case .ptr(let name) = data else { return }
        room.forget(name)
        guard let service = services[name] else { return }
        ended(name, service, link.cache, at: now)
        release(name, &link)
    }

    /// Where the host says nothing of itself leaving, and nobody probes for the name, its service will not be back in a moment. A responder
    /// that starts anew announces its addresses first; one that ends soon after its link came up says goodbye only for what it shares, as
    /// the rest is being probed.
    mutating func ended(_ name: DomainName, _ service: Service, _ cache: RecordCache, at now: Duration) {
        let isHostThere = service.hosts.contains {
            (cache.isAnswered(RecordKey($0, .a)) || cache.isAnswered(RecordKey($0, .aaaa)))
                && !cache.farewells.contains($0, since: now - Self.patience)
        }
        let isWithdrawn =
            isHostThere && !cache.isAnswered(RecordKey(name, .srv))
            && !cache.probes.contains(name, since: now - Self.patience)
        facts.append(isWithdrawn ? .withdrawn(sighting(of: service)) : .disappeared(sighting(of: service)))
    }

    /// Nothing of a service is asked or known any more.
    mutating func release(_ name: DomainName, _ link: inout LinkQuerier) {
        guard let service = services.removeValue(forKey: name) else { return }
        room.removed(name)
        for host in service.hosts { leave(host, name, &link) }
        guard resolvesServices || isForOne else { return }
        link.stop(RecordKey(name, .srv))
        link.stop(RecordKey(name, .txt))
    }

    func sighting(of service: Service) -> Sighting {
        Sighting(instance: service.instance, origin: origin, family: nil, isOwn: service.isOwn)
    }
}
