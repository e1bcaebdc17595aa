import DNSMessage
import DNSSD
import Discovery

// Derives a service's state from the source's records: it is resolved, no longer resolved, or gone.
extension ServiceGraph {
    /// Looks at the changed services; if there are many, the rest follows in the next turn.
    package mutating func evaluate<Source: RecordSource>(_ source: inout Source, at now: Duration) {
        var left = patience.evaluations
        while left > 0 {
            if let name = evaluated.nextName() {
                evaluate(name, &source, at: now)
                left -= 1
            } else if let host = evaluated.nextHost() {
                for name in hosts[host]?.users ?? [] { evaluated.add(name) }
            } else {
                return
            }
        }
    }

    mutating func evaluate<Source: RecordSource>(_ name: DomainName, _ source: inout Source, at now: Duration) {
        guard let service = services[name], !service.isDone else { return }
        var records = ServiceRecords(of: name, addressTypes, in: source)
        follow(records.targets.map(\.host), of: name, from: records.sender, &source, at: now)
        guard resolvesServices || isForOne else { return }
        guard !records.targets.isEmpty else { return withoutTarget(name, service, records, source, at: now) }
        read(&records, source)
        if isForOne { noteAddress(of: name, records.isDialable || service.told != nil, at: now) }
        if let host = records.crowdedHost {
            facts.append(
                .degraded("\(host) has more than \(ServiceRecords.mostAddresses) addresses: further ones are left out"))
        }
        switch progress(name, service, records, at: now) {
        case .waiting: break
        case .missing: failed(name, isGone: patience.answer != nil, source, at: now)
        case .complete:
            guard let isOwn = source.isOwn(name, records, in: isForOne ? nil : key, at: now) else { return }
            let age = now - service.since.time
            let mayCome = patience.text.map { age < $0 } ?? false
            let awaitsText = resolvesServices && records.text == nil && mayCome
            services[name]?.awaitsText = awaitsText
            tell(name, records, isOwn: isOwn, &source, at: now)
        }
    }

    private func read<Source: RecordSource>(_ records: inout ServiceRecords, _ source: borrowing Source) {
        records.keep { hosts[$0] != nil }
        records.read(source, scope: origin.interface?.index ?? 0, keepsAll: dials)
    }

    private mutating func noteAddress(of name: DomainName, _ isKnown: Bool, at now: Duration) {
        guard !isKnown else { return withoutAddressSince = .never }
        guard withoutAddressSince == .never else { return }
        withoutAddressSince = Moment(now)
        unanswered.add(name, at: now)
    }

    private enum Progress { case waiting, complete, missing }

    /// No SRV record is known, or those that are name no host.
    private mutating func withoutTarget<Source: RecordSource>(
        _ name: DomainName, _ service: Service, _ records: ServiceRecords, _ source: Source, at now: Duration
    ) {
        let standing = records.hasService ? Standing.denied : source.standing(RecordKey(name, .srv))
        switch standing {
        case .denied: failed(name, isGone: !records.hasService || patience.answer != nil, source, at: now)
        case .failed: failed(name, isGone: false, source, at: now)
        case .unknown:
            guard service.told != nil || isForOne && service.isSighted, patience.answer != nil else { return }
            failed(name, isGone: true, source, at: now)
        }
    }

    /// Whether what is known suffices, given how long it has been waited for.
    private mutating func progress(
        _ name: DomainName, _ service: Service, _ records: ServiceRecords, at now: Duration
    ) -> Progress {
        guard resolvesServices else { return .complete }
        let age = now - service.since.time
        let isLate = (dials ? patience.textOfOne : patience.text).map { age >= $0 } ?? false
        let hasText = records.text != nil || isLate
        guard patience.answer != nil else {
            // Whatever is not known yet is answered, or fails.
            guard hasText, records.isSettled else { return .waiting }
            return records.isDialable || records.isSaid ? .complete : .missing
        }
        guard hasText, records.isDialable || records.isDenied else { return service.told == nil ? .waiting : .missing }
        guard service.told == nil, !records.isSettled else { return .complete }
        // The other family's addresses are probably on their way.
        guard service.heldSince != .never else {
            services[name]?.heldSince = Moment(now)
            held.add(name, at: now)
            return .waiting
        }
        let hold = now - service.heldSince.time
        guard hold >= patience.additionals else { return .waiting }
        if query.resolution == .once, records.lacksIPv4, let longer = patience.firstAddress,
            hold < patience.additionals + longer
        {
            guard !service.isHeldLonger else { return .waiting }
            services[name]?.isHeldLonger = true
            heldLonger.add(name, at: now)
            return .waiting
        }
        return .complete
    }

    private mutating func tell<Source: RecordSource>(
        _ name: DomainName, _ records: ServiceRecords, isOwn: Bool, _ source: inout Source, at now: Duration
    ) {
        let txt = text(records.text ?? [])
        guard var service = services[name],
            var resolution = records.resolution(of: service.instance, at: origin, on: { hosts[$0] }, txt: txt)
        else { return failed(name, isGone: patience.answer != nil, source, at: now) }
        source.complete(&resolution, from: records)
        resolution.subtypes = subtypes(of: name, since: service.told, source)
        if !service.isSighted || service.isOwn != isOwn {
            (service.isSighted, service.isOwn) = (true, isOwn)
            facts.append(.appeared(sighting(of: service)))
        }
        if resolvesServices, service.told != resolution { facts.append(.resolved(resolution)) }
        if let reason = resolution.withheld, service.told?.withheld == nil { facts.append(.degraded(reason)) }
        service.told = resolution
        service.isFailing = false
        service.sender = records.sender
        services[name] = service
        room.added(name, by: records.sender)
        for (target, addresses) in zip(records.targets, records.addresses)
        where hosts[target.host]?.addresses != addresses {
            hosts[target.host]?.addresses = addresses
        }
        // Who asks every question again and again asks once for what is wanted once.
        guard query.resolution == .once, patience.answer == nil else { return }
        services[name]?.isDone = true
        guard !isForOne else { return }
        services[name]?.hosts = []
        stopAsking(name, service, &source)
    }

    /// A listed service has no answer, or the requested one is gone.
    /// - Parameter isGone: whether the lack of records is an answer.
    mutating func failed<Source: RecordSource>(_ name: DomainName, isGone: Bool, _ source: Source, at now: Duration) {
        guard var service = services[name] else { return }
        if isForOne, isGone {
            if service.isSighted { facts.append(ending(of: name, service, source, at: now)) }
            (service.isSighted, service.isFailing) = (false, false)
            withoutAddressSince = .never
        } else {
            guard !service.isFailing || isForOne && !service.isSighted else { return }
            // What is known without an address: host, port and TXT. What was asked for by name is there when this is.
            if service.told == nil, let known = known(of: name, service, source) {
                if !service.isSighted {
                    service.isSighted = true
                    facts.append(.appeared(sighting(of: service)))
                }
                facts.append(.resolved(known))
            }
            if service.isSighted { facts.append(.resolutionFailed(service.instance, origin)) }
            service.isFailing = true
            room.failed(name)
        }
        service.told = nil
        (service.heldSince, service.isHeldLonger) = (.never, false)
        services[name] = service
    }

    private mutating func known<Source: RecordSource>(of name: DomainName, _ service: Service, _ source: Source)
        -> Resolution?
    {
        var records = ServiceRecords(of: name, addressTypes, in: source)
        guard !records.targets.isEmpty else { return nil }
        read(&records, source)
        let txt = text(records.text ?? [])
        guard var known = records.resolution(of: service.instance, at: origin, on: { hosts[$0] }, txt: txt) else {
            return nil
        }
        source.complete(&known, from: records)
        known.subtypes = subtypes(of: name, since: nil, source)
        return known
    }

    /// The subtypes under which a service was seen, 16 at most. Nobody asks for them, so one that has expired stays as long as the service is there.
    private func subtypes<Source: RecordSource>(
        of name: DomainName, since told: Resolution?, _ source: Source
    ) -> [String] {
        let known = told?.subtypes ?? []
        let seen = subtypeLists.filter { source.record(RecordKey($0, .ptr), .ptr(name)) != nil }
            .compactMap { $0.labels.first.flatMap { String(validating: $0, as: UTF8.self) } }
        return seen.isEmpty ? known : Array(Set(known + seen).sorted().prefix(16))
    }

    // MARK: Hosts

    /// Wants the addresses of a service's current hosts, and no longer those of former ones.
    private mutating func follow<Source: RecordSource>(
        _ targets: [DomainName], of name: DomainName, from sender: UInt16, _ source: inout Source, at now: Duration
    ) {
        // Without SRV, the last host is kept: its presence tells how the service ended.
        guard !targets.isEmpty, let old = services[name]?.hosts, targets != old else { return }
        for host in Set(targets).subtracting(old) {
            if hosts[host] == nil {
                guard hosts.count < Self.mostHosts else { continue }
                hosts[host] = Host(alone: [host], name: HostName(labels: host.labels))
                source.follow(host)
                if resolvesServices {
                    let delay = patience.additionals
                    for type in addressTypes {
                        source.want(
                            RecordKey(host, type), isForOne ? .awaited(after: delay) : .listed(after: delay),
                            from: sender, at: now)
                    }
                }
            }
            hosts[host]?.users.insert(name)
        }
        let alone = targets.count == 1 ? hosts[targets[0]]?.alone : nil
        services[name]?.hosts = alone ?? targets
        for host in Set(old).subtracting(targets) { leave(host, name, &source) }
    }

    private mutating func leave<Source: RecordSource>(_ host: DomainName, _ name: DomainName, _ source: inout Source) {
        guard hosts[host]?.users.remove(name) != nil, hosts[host]?.users.isEmpty == true else { return }
        hosts[host] = nil
        source.unfollow(host)
        guard resolvesServices else { return }
        for type in addressTypes { source.drop(RecordKey(host, type)) }
    }

    /// Wants the records of a service no longer.
    mutating func stopAsking<Source: RecordSource>(
        _ name: DomainName, _ service: Service, _ source: inout Source
    ) {
        for host in service.hosts { leave(host, name, &source) }
        guard resolvesServices || isForOne, !service.isDone else { return }
        source.drop(RecordKey(name, .srv))
        source.drop(RecordKey(name, .txt))
    }
}
