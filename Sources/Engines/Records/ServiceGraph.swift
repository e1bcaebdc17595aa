package import DNSMessage
package import DNSSD
package import Discovery

/// One `ServiceQuery` at one source of records: wants the records that it needs, and turns those that come and go into facts.
///
/// A value: receives changes of the source's records with the time. What is missing it wants after a moment, in which
/// it may come by itself.
package struct ServiceGraph: Sendable {
    /// The most services that one graph keeps. A query has room for fewer, and the rest is for what answers later.
    package static let most = 22_528
    /// The most hosts whose addresses are asked for.
    static let mostHosts = 22_528
    /// The most names that are counted of those that cannot be read.
    private static let mostUnreadable = 1024
    /// The most lists of subtypes that are looked at.
    private static let mostSubtypeLists = 64

    struct Service {
        let instance: ServiceInstance
        let since: Moment
        /// Its position in order of arrival.
        let number: UInt32
        /// Who sent the first of its SRV records.
        var sender: UInt16 = 0
        var isSighted = false
        var isOwn = false
        var isFailing = false
        var isHeldLonger = false
        /// It was told without its TXT record, which may still come.
        var awaitsText = false
        /// It was resolved once, and is not asked for again.
        var isDone = false
        /// The hosts of its SRV records.
        var hosts: [DomainName] = []
        /// The last reported resolution.
        var told: Resolution?
        /// When it became complete except for one family's addresses.
        var heldSince = Moment.never
    }

    /// A host whose addresses are being asked for.
    struct Host {
        /// Its services.
        var users: Set<DomainName> = []
        /// It alone, shared by its services.
        let alone: [DomainName]
        /// Its name as reported.
        let name: HostName?
        /// Its last reported addresses, shared by its services.
        var addresses: [IPAddress] = []
    }

    let query: ServiceQuery
    package let origin: Origin
    let patience: Patience
    /// The types of addresses that are wanted.
    package let addressTypes: [RecordType]
    private let question: DomainName
    /// The type and domain that names must belong to.
    private let parent: DomainName
    var services: [DomainName: Service] = [:]
    private var lastNumber: UInt32 = 0
    var hosts: [DomainName: Host] = [:]
    var evaluated = EvaluationQueue()
    var held: DueQueue
    var heldLonger: DueQueue
    private var withoutText: DueQueue
    private var dialledEarly: DueQueue
    var unanswered: DueQueue
    /// Since when the service that was asked for by name has a host and no address of it.
    var withoutAddressSince = Moment.never
    private var unreadable: Set<DomainName> = []
    /// The lists of subtypes of which a service was seen.
    private(set) var subtypeLists: Set<DomainName> = []
    var facts: [BrowseFact] = []
    /// The last TXT record that was read: services of one kind often say the same.
    var lastText: (data: [UInt8], record: TXTRecord) = ([], TXTRecord())
    var room: GraphRoom

    /// The TXT record of some data.
    mutating func text(_ data: [UInt8]) -> TXTRecord {
        if data != lastText.data { lastText = (data, TXTRecord(strings: TextStrings.strings(of: data) ?? [])) }
        return lastText.record
    }

    /// Creates a graph; nil if its name is longer than 255 bytes.
    /// - Parameters:
    ///   - query: the query.
    ///   - origin: where the records come from.
    ///   - patience: how long to wait for records.
    ///   - limit: the most services kept.
    package init?(_ query: ServiceQuery, at origin: Origin, patience: Patience, limit: Int = most) {
        (self.query, self.origin, self.patience) = (query, origin, patience)
        room = GraphRoom(limit: limit)
        addressTypes =
            switch query.family {
            case .ipv4: [.a]
            case .ipv6: [.aaaa]
            case nil: [.a, .aaaa]
            }
        switch query.target {
        case .type(let type, let domain):
            guard let listing = DomainName(listing: type, in: domain),
                let parent = DomainName(listing: type.base, in: domain)
            else { return nil }
            (question, self.parent) = (listing, parent)
        case .instance(let instance):
            guard let name = DomainName(instance), let parent = name.parent else { return nil }
            (question, self.parent) = (name, parent)
        }
        held = DueQueue(after: patience.answer == nil ? nil : patience.additionals)
        heldLonger = DueQueue(after: patience.firstAddress)
        withoutText = DueQueue(after: patience.text)
        dialledEarly = DueQueue(after: patience.textOfOne)
        unanswered = DueQueue(after: patience.answer)
    }

    var resolvesServices: Bool { query.resolution != .none }
    package var isForOne: Bool { if case .instance = query.target { true } else { false } }
    /// Whether it is for someone who is about to dial.
    var dials: Bool { isForOne && query.resolution == .watch }

    /// The question that lists everything.
    package var key: RecordKey { RecordKey(question, isForOne ? .srv : .ptr) }

    /// Whether the requested service was reported, and is whole.
    package var hasAnswer: Bool { services.values.contains { $0.isSighted && !$0.awaitsText } }

    /// Whether the requested service is there, but its records do not suffice.
    package var isFailing: Bool { services.values.contains(where: \.isFailing) }

    /// The hosts of a service.
    package func hosts(of name: DomainName) -> [DomainName] { services[name]?.hosts ?? [] }

    /// When to call `advance`; nil for never.
    package var deadline: Duration? {
        // Work left over from the last turn is due.
        guard evaluated.isEmpty else { return .zero }
        return [held.deadline, heldLonger.deadline, withoutText.deadline, dialledEarly.deadline, unanswered.deadline]
            .reduce(room.nextLook, earlier)
    }

    /// Facts since the last call.
    package mutating func takeFacts() -> [BrowseFact] {
        defer { facts = [] }
        return facts
    }

    // MARK: Events

    /// Wants the first records, and reports what is known.
    package mutating func begin<Source: RecordSource>(_ source: inout Source, at now: Duration) {
        for name in [question, parent] { source.follow(name) }
        if resolvesServices { subtypeLists = Set(source.subtypeLists(of: parent, atMost: Self.mostSubtypeLists)) }
        guard case .instance(let instance) = query.target else {
            source.want(key, .list, from: nil, at: now)
            for record in source.records(key) { listed(record.data, &source, at: now) }
            return evaluate(&source, at: now)
        }
        services[question] = Service(instance: instance, since: Moment(now), number: 0)
        for type in [.srv, .txt] as [RecordType] {
            source.want(RecordKey(question, type), .awaited(after: .zero), from: nil, at: now)
        }
        if resolvesServices { withoutText.add(question, at: now) }
        if dials { dialledEarly.add(question, at: now) }
        evaluate(question, &source, at: now)
    }

    /// Wants nothing any more.
    package mutating func end<Source: RecordSource>(_ source: inout Source) {
        for name in Array(services.keys) { release(name, &source) }
        for name in [question, parent] { source.unfollow(name) }
        if !isForOne { source.drop(key) }
    }

    /// A record came or went. After the last of several, `evaluate` looks at what that means.
    package mutating func changed<Source: RecordSource>(
        _ key: RecordKey, _ data: RecordData, isAdded: Bool, _ source: inout Source, at now: Duration
    ) {
        if key == self.key, !isForOne {
            if isAdded { listed(data, &source, at: now) } else { delisted(data, &source, at: now) }
        } else if isAdded, room.isLeavingOut, key.type == .srv || key.type == .txt, services[key.name] == nil,
            source.record(self.key, .ptr(key.name)) != nil
        {
            // There was no room for the service while nothing was known of it.
            listed(.ptr(key.name), &source, at: now)
        } else if isAdded, key.type == .ptr, case .ptr(let name) = data, key.name.listedType == parent {
            if subtypeLists.count < Self.mostSubtypeLists { subtypeLists.insert(key.name) }
            if services[name] != nil { evaluated.add(name) }
        } else {
            touched(key)
        }
    }

    /// Something else is known of a key, or of its records. `evaluate` looks at what that means.
    package mutating func touched(_ key: RecordKey) {
        switch key.type {
        case .a, .aaaa: if hosts[key.name] != nil { evaluated.add(host: key.name) }
        case .nsec where services[key.name] == nil: if hosts[key.name] != nil { evaluated.add(host: key.name) }
        default: if services[key.name] != nil { evaluated.add(key.name) }
        }
    }

    /// Time has passed.
    package mutating func advance<Source: RecordSource>(to now: Duration, _ source: inout Source) {
        let most = patience.evaluations
        let due =
            held.takeDue(at: now, atMost: most) + heldLonger.takeDue(at: now, atMost: most)
            + withoutText.takeDue(at: now, atMost: most) + dialledEarly.takeDue(at: now, atMost: most)
        for name in due {
            if let service = services[name], service.told == nil || service.awaitsText { evaluated.add(name) }
        }
        evaluate(&source, at: now)
        if let answer = patience.answer {
            for name in unanswered.takeDue(at: now, atMost: most) {
                // The name may have been released and listed again.
                guard let service = services[name], service.told == nil else { continue }
                let since = isForOne ? withoutAddressSince : service.since
                guard since != .never, now - since.time >= answer else { continue }
                failed(name, isGone: false, source, at: now)
            }
        }
        lookForRoom(&source, at: now)
    }

    /// What was waited for may have been lost, and is asked for again: the waits for addresses begin anew.
    package mutating func lost(at now: Duration) {
        for (name, service) in services where service.told == nil && service.heldSince != .never {
            services[name]?.heldSince = Moment(now)
            services[name]?.isHeldLonger = false
            held.add(name, at: now)
        }
    }

    /// The link is gone; its services may well still exist.
    package mutating func hide() {
        for service in services.values where service.isSighted { facts.append(.hidden(sighting(of: service))) }
    }

    /// Reports again everything that is known: no one answered for a while.
    package mutating func reportAgain() {
        for service in services.values where service.isSighted {
            facts.append(.appeared(sighting(of: service)))
            if let told = service.told { facts.append(.resolved(told)) }
            if service.isFailing { facts.append(.resolutionFailed(service.instance, origin)) }
        }
    }

    // MARK: Services come and go

    mutating func listed<Source: RecordSource>(_ data: RecordData, _ source: inout Source, at now: Duration) {
        // A PTR record may point anywhere (RFC 6763 §4.1): only services of this type in this domain count.
        guard case .ptr(let name) = data, services[name] == nil, case .type(let type, let domain) = query.target else {
            return
        }
        guard let serviceName = serviceName(name) else { return noteUnreadable(name) }
        guard admit(name, &source, at: now) else { return }
        lastNumber &+= 1
        var service = Service(
            instance: ServiceInstance(name: serviceName, type: type.base, domain: domain), since: Moment(now),
            number: lastNumber)
        let record = source.record(key, data)
        service.isSighted = true
        service.isOwn = record?.isOwn ?? false
        services[name] = service
        facts.append(.appeared(sighting(of: service)))
        if resolvesServices {
            for type in [.srv, .txt] as [RecordType] {
                source.want(
                    RecordKey(name, type), .listed(after: patience.additionals), from: record?.sender, at: now)
            }
            withoutText.add(name, at: now)
            unanswered.add(name, at: now)
        }
        evaluated.add(name)
    }

    /// Returns the service's name; nil if it is not of this type in this domain.
    package func serviceName(_ name: DomainName) -> ServiceName? {
        name.label(below: parent).flatMap { ServiceName(label: $0) }
    }

    /// Says how many services of the type are left out because their names are not UTF-8 (RFC 6763 §4.1.1): at the first,
    /// and whenever there are twice as many.
    private mutating func noteUnreadable(_ name: DomainName) {
        guard let link = origin.interface, name.label(below: parent)?.isEmpty == false,
            unreadable.count < Self.mostUnreadable, unreadable.insert(name).inserted,
            unreadable.count.nonzeroBitCount == 1
        else { return }
        let what = unreadable.count == 1 ? "a service whose name is" : "\(unreadable.count) services whose names are"
        facts.append(.degraded("\(what) not UTF-8 on \(link.name): left out"))
    }

    private mutating func delisted<Source: RecordSource>(
        _ data: RecordData, _ source: inout Source, at now: Duration
    ) {
        guard case .ptr(let name) = data else { return }
        room.forget(name)
        guard let service = services[name] else { return }
        facts.append(ending(of: name, service, source, at: now))
        release(name, &source)
    }

    /// Returns how a service ended.
    func ending<Source: RecordSource>(
        of name: DomainName, _ service: Service, _ source: Source, at now: Duration
    ) -> BrowseFact {
        let sighting = sighting(of: service)
        if source.isHidden { return .hidden(sighting) }
        return source.isWithdrawn(name, from: service.hosts, at: now) ? .withdrawn(sighting) : .disappeared(sighting)
    }

    /// Wants nothing of a service any more, and forgets it.
    mutating func release<Source: RecordSource>(_ name: DomainName, _ source: inout Source) {
        guard let service = services.removeValue(forKey: name) else { return }
        services.giveBack()
        room.removed(name)
        stopAsking(name, service, &source)
    }

    func sighting(of service: Service) -> Sighting {
        Sighting(instance: service.instance, origin: origin, family: nil, isOwn: service.isOwn)
    }
}
