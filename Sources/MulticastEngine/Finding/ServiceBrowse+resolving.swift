import DNSMessage
import DNSSD
import Discovery
import WireNames

// Derives a service's state from the records in the cache: it is resolved, no longer resolved, or gone.
extension ServiceBrowse {
    /// Looks at some of the changed services; the rest follow in the next turn.
    mutating func evaluateSome(_ link: inout LinkQuerier, at now: Duration) {
        var left = Self.evaluations
        while left > 0 {
            if let name = evaluated.nextName() {
                evaluate(name, &link, at: now)
                left -= 1
            } else if let host = evaluated.nextHost() {
                for name in hosts[host]?.users ?? [] { evaluated.add(name) }
            } else {
                return
            }
        }
    }

    mutating func evaluate(_ name: DomainName, _ link: inout LinkQuerier, at now: Duration) {
        guard var service = services[name] else { return }
        let records = records(of: name, link)
        if let host = records.crowdedHost {
            facts.append(
                .degraded("\(host) has more than \(ServiceRecords.mostAddresses) addresses: further ones are left out"))
        }
        follow(records.targets.map(\.host), of: name, from: records.source, &service, &link, at: now)
        services[name] = service
        guard resolvesServices || isForOne else { return }
        let age = now - service.since.time
        let patience = isForOne && query.resolution == .watch ? Self.textLag : Self.textPatience
        let isComplete =
            resolvesServices ? records.isDialable && (records.text != nil || age >= patience) : !records.targets.isEmpty
        guard isComplete else {
            if service.told != nil { failed(name, link, at: now) }
            return
        }
        if resolvesServices, service.told == nil, !records.hasBothFamilies {
            // The other family's addresses are probably on their way.
            guard service.heldSince != .never else {
                services[name]?.heldSince = Moment(now)
                return held.add(name, at: now)
            }
            let held = now - service.heldSince.time
            guard held >= delay else { return }
            if query.resolution == .once, records.lacksIPv4, query.family != .ipv6, held < delay + Self.silence {
                guard !service.isHeldLonger else { return }
                services[name]?.isHeldLonger = true
                return heldLonger.add(name, at: now)
            }
        }
        services[name]?.awaitsText = resolvesServices && records.text == nil && age < Self.textPatience
        tell(name, records, link.cache)
    }

    private mutating func tell(_ name: DomainName, _ records: ServiceRecords, _ cache: RecordCache) {
        guard var service = services[name],
            let resolution = records.resolution(of: service.instance, at: origin, on: { hosts[$0] })
        else { return }
        let isOwn = records.isOwn && (isForOne || cache.isOwn(key, .ptr(name)))
        if !service.isSighted || service.isOwn != isOwn {
            (service.isSighted, service.isOwn) = (true, isOwn)
            facts.append(.appeared(sighting(of: service)))
        }
        if resolvesServices, service.told != resolution { facts.append(.resolved(resolution)) }
        service.told = resolution
        service.isFailing = false
        service.source = records.source
        services[name] = service
        room.added(name, by: records.source)
        for (target, addresses) in zip(records.targets, records.addresses)
        where hosts[target.host]?.addresses != addresses {
            hosts[target.host]?.addresses = addresses
        }
    }

    private func records(of name: DomainName, _ link: LinkQuerier) -> ServiceRecords {
        let dials = isForOne && query.resolution == .watch
        return ServiceRecords(of: name, in: link.cache, scope: interface.index, keepsAll: dials)
    }

    /// A listed service has no answer, or the requested one is gone.
    mutating func failed(_ name: DomainName, _ link: LinkQuerier, at now: Duration) {
        guard var service = services[name], !service.isFailing else { return }
        if isForOne {
            if service.isSighted { ended(name, service, link, at: now) }
            service.isSighted = false
        } else {
            // What is known without an address: host, port and TXT.
            if service.told == nil,
                let known = records(of: name, link).resolution(of: service.instance, at: origin, on: { hosts[$0] })
            {
                facts.append(.resolved(known))
            }
            facts.append(.resolutionFailed(service.instance, origin))
            service.isFailing = true
            room.failed(name)
        }
        service.told = nil
        (service.heldSince, service.isHeldLonger) = (.never, false)
        services[name] = service
    }

    /// Asks for the addresses of a service's current hosts, and stops for former ones.
    private mutating func follow(
        _ targets: [DomainName], of name: DomainName, from source: PacketSource, _ service: inout Service,
        _ link: inout LinkQuerier, at now: Duration
    ) {
        // Without SRV, the last host is kept: its presence tells how the service ended.
        guard !targets.isEmpty, targets != service.hosts else { return }
        let old = service.hosts
        service.hosts = targets
        for host in Set(targets).subtracting(old) {
            if hosts[host] == nil {
                hosts[host] = Host(name: HostName(labels: host.labels))
                link.follow(host)
                if resolvesServices {
                    for key in [RecordKey(host, .a), RecordKey(host, .aaaa)] {
                        link.ask(key, .unique(after: delay), from: source, at: now)
                        if isForOne { link.askOnce(key, at: now) }
                    }
                }
            }
            hosts[host]?.users.insert(name)
        }
        for host in Set(old).subtracting(targets) { leave(host, name, &link) }
    }

    mutating func leave(_ host: DomainName, _ name: DomainName, _ link: inout LinkQuerier) {
        guard hosts[host]?.users.remove(name) != nil, hosts[host]?.users.isEmpty == true else { return }
        hosts[host] = nil
        link.unfollow(host)
        guard resolvesServices else { return }
        link.stop(RecordKey(host, .a))
        link.stop(RecordKey(host, .aaaa))
    }
}
