package import DNSMessage
package import DNSSD
package import Discovery
import WireNames

/// One `ServiceQuery` on one link: asks for the records it needs, and turns records that come and go into facts.
///
/// A value: receives changes of the link's cache with the time. It first waits for additional records, then asks for
/// the missing ones only.
package struct ServiceBrowse: LinkBrowse {
    /// How long additional records may lag behind the answer they belong to.
    private static let additionalsDelay = Duration.milliseconds(20)
    /// The same when resolving one name, whose answer comes at once, in one packet per family.
    private static let answerDelay = Duration.milliseconds(5)
    /// How long an A record may take. avahi-daemon omits it from packets over IPv6, and sends nothing twice within a
    /// second (RFC 6762 §6), so a single question gets a single answer.
    static let silence = Duration.milliseconds(1300)
    /// How long to wait for TXT before an otherwise complete service is reported without it.
    static let textPatience = Duration.milliseconds(1500)
    /// The same for one that is followed by name, as for dialling, which needs no TXT: the record belongs to the same
    /// answer. Its list is complete only later.
    static let textLag = Duration.milliseconds(50)
    /// How long to wait for an answer before a service counts as not answering.
    static let patience = Duration.seconds(5)
    /// The most names that are counted of those that cannot be read.
    private static let mostUnreadable = 1024
    /// The same for a name of a list, which is complete without it then: it was asked for three times, and would be again after 7 s only.
    private static let namePatience = Duration.milliseconds(3300)
    /// The most services that are looked at again, or given up, in one turn.
    static let evaluations = 128

    struct Service {
        let instance: ServiceInstance
        let since: Moment
        /// Its position in order of arrival.
        let number: UInt32
        /// The hosts of its SRV records.
        var hosts: [DomainName] = []
        /// Who sent the first of them.
        var source = PacketSource.asked
        /// The last reported resolution.
        var told: Resolution?
        /// When it became complete except for one family's addresses.
        var heldSince = Moment.never
        var isSighted = false
        var isOwn = false
        var isFailing = false
        var isHeldLonger = false
        /// It was told without its TXT record, which may still come.
        var awaitsText = false
    }

    /// A host whose addresses are being asked for.
    struct Host {
        /// Its services.
        var users: Set<DomainName> = []
        /// Its name as reported.
        let name: HostName?
        /// Its last reported addresses, shared by its services.
        var addresses: [IPAddress] = []
    }

    let query: ServiceQuery
    let interface: NetworkInterface
    private let question: DomainName
    /// The type and domain that names must belong to.
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
    private var dialledEarly = DueQueue(after: textLag)
    private var unanswered: DueQueue
    private let answerPatience: Duration
    private var unreadable: Set<DomainName> = []
    var facts: [BrowseFact] = []
    var room: BrowseRoom

    /// Creates a browse; nil if its name is longer than 255 bytes.
    /// - Parameters:
    ///   - query: the query.
    ///   - interface: the link.
    ///   - limit: the most services kept.
    package init?(_ query: ServiceQuery, on interface: NetworkInterface, limit: Int = BrowseRoom.most) {
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
        if case .instance = query.target { answerPatience = Self.patience } else { answerPatience = Self.namePatience }
        unanswered = DueQueue(after: answerPatience)
    }

    var origin: Origin { .link(interface) }
    package var isForOne: Bool { if case .instance = query.target { true } else { false } }

    /// The question that lists everything.
    package var key: RecordKey { RecordKey(question, isForOne ? .srv : .ptr) }

    /// Whether the requested service was reported, and is whole.
    package var hasAnswer: Bool { services.values.contains { $0.isSighted && !$0.awaitsText } }

    /// A responder lists a service together with what it is (RFC 6763 §12.1); a bare name costs nothing.
    package func isOfResponder(_ data: RecordData, _ link: LinkQuerier) -> Bool {
        if case .ptr(let name) = data { link.cache.isAnswered(RecordKey(name, .srv)) } else { true }
    }

    /// When to call `advance`; nil for never.
    package var deadline: Duration? {
        // Work left over from the last turn is due.
        guard evaluated.isEmpty else { return .zero }
        let queues = [held, heldLonger, withoutText, dialledEarly, unanswered]
        return (queues.compactMap(\.deadline) + [room.nextLook].compactMap(\.self)).min()
    }

    /// Facts since the last call.
    package mutating func takeFacts() -> [BrowseFact] {
        defer { facts = [] }
        return facts
    }

    // MARK: Events

    /// Starts to ask, and reports what the cache knows.
    package mutating func begin(_ link: inout LinkQuerier, at now: Duration) {
        for name in [question, parent] { link.follow(name) }
        guard isForOne else {
            link.ask(key, .shared, at: now)
            for record in link.cache.records(key) { listed(record.data, &link, at: now) }
            return evaluateSome(&link, at: now)
        }
        guard case .instance(let instance) = query.target else { return }
        services[question] = Service(instance: instance, since: Moment(now), number: 0)
        link.ask(key, .unique(after: .zero), at: now)
        link.ask(RecordKey(question, .txt), .unique(after: .zero), at: now)
        for type in [.srv, .txt] as [RecordType] { link.askOnce(RecordKey(question, type), at: now) }
        if resolvesServices { withoutText.add(question, at: now) }
        if query.resolution == .watch { dialledEarly.add(question, at: now) }
        unanswered.add(question, at: now)
        evaluate(question, &link, at: now)
    }

    /// Stops asking.
    package mutating func end(_ link: inout LinkQuerier) {
        for name in Array(services.keys) { release(name, &link) }
        for name in [question, parent] { link.unfollow(name) }
        if !isForOne { link.stop(key) }
    }

    /// The link's cache has changed.
    package mutating func changed(_ changes: [RecordCache.Change], _ link: inout LinkQuerier, at now: Duration) {
        for change in changes {
            guard let (key, data, isAdded) = change.parts(in: link.cache) else { continue }
            if key == self.key, !isForOne {
                if isAdded { listed(data, &link, at: now) } else { delisted(data, &link, at: now) }
            } else if key.type == .nsec, services[key.name] != nil {
                evaluated.add(key.name)
            } else if key.type == .srv || key.type == .txt {
                if services[key.name] != nil {
                    evaluated.add(key.name)
                } else if isAdded, room.isLeavingOut, link.cache.has(self.key, .ptr(key.name)) {
                    // There was no room for the service while nothing was known of it.
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
            + dialledEarly.takeDue(at: now, atMost: Self.evaluations)
        for name in due {
            if let service = services[name], service.told == nil || service.awaitsText { evaluated.add(name) }
        }
        evaluateSome(&link, at: now)
        for name in unanswered.takeDue(at: now, atMost: Self.evaluations) {
            // The name may have been released and listed again.
            guard let service = services[name], service.told == nil, now - service.since.time >= answerPatience else {
                continue
            }
            failed(name, link, at: now)
        }
        lookForRoom(&link, at: now)
    }

    /// The link is gone; its services may well still exist.
    package mutating func hide() {
        for service in services.values where service.isSighted { facts.append(.hidden(sighting(of: service))) }
    }

    // MARK: Services come and go

    mutating func listed(_ data: RecordData, _ link: inout LinkQuerier, at now: Duration) {
        // A PTR record may point anywhere (RFC 6763 §4.1): only services of this type in this domain count.
        guard case .ptr(let name) = data, services[name] == nil, case .type(let type, let domain) = query.target else {
            return
        }
        guard let serviceName = serviceName(name) else { return noteUnreadable(name) }
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
            let source = link.cache.source(of: key, data)
            for type in [.srv, .txt] as [RecordType] {
                link.ask(RecordKey(name, type), .unique(after: delay), from: source, at: now)
            }
            withoutText.add(name, at: now)
            unanswered.add(name, at: now)
        }
        evaluated.add(name)
    }

    /// Returns the service's name; nil if it is not of this type in this domain.
    func serviceName(_ name: DomainName) -> ServiceName? {
        name.label(below: parent).flatMap { ServiceName(label: $0) }
    }

    /// Says how many services of the type are left out because their names are not UTF-8 (RFC 6763 §4.1.1): at the first,
    /// and whenever there are twice as many.
    private mutating func noteUnreadable(_ name: DomainName) {
        guard name.label(below: parent)?.isEmpty == false, unreadable.count < Self.mostUnreadable,
            unreadable.insert(name).inserted, unreadable.count.nonzeroBitCount == 1
        else { return }
        let what = unreadable.count == 1 ? "a service whose name is" : "\(unreadable.count) services whose names are"
        facts.append(.degraded("\(what) not UTF-8 on \(interface.name): left out"))
    }

    private mutating func delisted(_ data: RecordData, _ link: inout LinkQuerier, at now: Duration) {
        guard case .ptr(let name) = data else { return }
        room.forget(name)
        guard let service = services[name] else { return }
        ended(name, service, link, at: now)
        release(name, &link)
    }

    /// Reports how a service ended: as withdrawn, which means that it will not return soon, if its host has not
    /// withdrawn its addresses, no one probes for the name, and no one answers for it.
    ///
    /// A responder that restarts announces its addresses first. A goodbye of the PTR record alone is followed by a
    /// question for SRV (`LinkQuerier.confirm`): one that restarts answers it, or probes for the name.
    mutating func ended(_ name: DomainName, _ service: Service, _ link: LinkQuerier, at now: Duration) {
        let cache = link.cache
        let isHostThere = service.hosts.contains {
            (cache.isAnswered(RecordKey($0, .a)) || cache.isAnswered(RecordKey($0, .aaaa)))
                && !cache.farewells.contains($0, since: now - Self.patience)
        }
        let isWithdrawn =
            isHostThere && !cache.probes.contains(name, since: now - Self.patience)
            && (!cache.isAnswered(RecordKey(name, .srv)) || link.isSilent(name, at: now))
        facts.append(isWithdrawn ? .withdrawn(sighting(of: service)) : .disappeared(sighting(of: service)))
    }

    /// Stops asking for a service, and forgets it.
    mutating func release(_ name: DomainName, _ link: inout LinkQuerier) {
        guard let service = services.removeValue(forKey: name) else { return }
        services.giveBack()
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
