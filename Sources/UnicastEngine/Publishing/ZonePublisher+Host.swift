import DNSMessage
import DNSSD
import Discovery
import WireNames

/// The host's name in a zone, and its addresses.
struct HostState: Sendable {
    enum Claim {
        /// The name should be free.
        case free
        case mine
        /// The server must be asked for the owner.
        case unclear
        /// The name has no owner. The server must be asked for its addresses; these are known so far.
        case foreign(found: [RecordType: Set<IPAddress>])
        /// The name is not this publisher's but has this host's addresses, as from DHCP: services only point to it.
        case borrowed
    }

    /// The wanted label, or labels separated by dots.
    let label: String
    /// The number of the name that is being tried: `h1`, `h1-2`, `h1-3` …
    var number = 1
    var claim = Claim.free
    /// Services point to a name that is not this publisher's. It is checked again at each renewal.
    var isBorrowed = false
    /// How often the name was in use although it had neither owner nor addresses.
    var tries = 0
    var addresses: Set<IPAddress> = []
    /// Whether they were looked at: before that, having none means nothing.
    var isLookedAt = false
    var version = 1
    var acknowledged = 0
    var isInFlight = false
    var mayExist = false
    var retryAt: Duration?
    var delay = RetryDelay()

    /// The name that is being tried; a number is added to its first label.
    var text: String {
        guard number > 1 else { return label }
        let first = label.prefix { $0 != "." }
        var short = first
        if short.utf8.count > 56 { while short.utf8.count > 40 { short.removeLast() } }
        return "\(short)-\(number)\(label.dropFirst(first.count))"
    }

    /// Whether the name exists, so that services may point to it.
    var isThere: Bool { isBorrowed || acknowledged > 0 }

    mutating func became(_ addresses: Set<IPAddress>) {
        isLookedAt = true
        guard addresses != self.addresses else { return }
        self.addresses = addresses
        version += 1
        retryAt = nil
        lookAgain()
    }

    /// Whoever has a name that is only borrowed may have taken it away, or given it other addresses.
    mutating func lookAgain() {
        if case .borrowed = claim { claim = .unclear }
    }

    /// Publishes the name again, because others may have taken it back.
    mutating func lost() {
        acknowledged = 0
        version += 1
        (claim, isBorrowed) = (.free, false)
    }

    /// Marks the name for removal, because no service needs it any more.
    mutating func withdraw(into names: inout [DomainName: Bool], _ name: DomainName?) {
        guard !isInFlight else { return }
        if mayExist, let name { names[name] = false }
        (mayExist, acknowledged, claim, number, retryAt) = (false, 0, .free, 1, nil)
        isBorrowed = false
        version += 1
    }
}

extension ZonePublisher {
    /// The host's name in the zone, as it is being tried; nil if it cannot be a DNS name.
    var hostName: DomainName? { layout.host(host.text) }

    mutating func sendHost(_ now: Duration) {
        guard !host.isInFlight, items.values.contains(where: { $0.stage == .wanted }), (host.retryAt ?? now) <= now,
            room > 0
        else { return }
        host.retryAt = nil
        guard let name = hostName else {
            return refuseAll(.init(.misconfigured, "\(host.label.escapedForTerminal) cannot be a host name"), now)
        }
        // The name must be gone before it can be written again.
        guard hostsToRemove[name] == nil else { return }
        guard !host.addresses.isEmpty else {
            for number in items.keys where host.isLookedAt {
                report(number, .waiting("this machine has no address by which others could reach it"))
            }
            return
        }
        switch host.claim {
        case .borrowed: return
        case .unclear: send(.hostOwner, .ask(name, .dhcid))
        case .foreign(let found):
            let type = found[.a] == nil ? RecordType.a : .aaaa
            send(.hostAddresses(type), .ask(name, type))
        case .free, .mine:
            guard host.acknowledged < host.version else { return }
            writeHost(name)
        }
        host.isInFlight = true
    }

    private mutating func writeHost(_ name: DomainName) {
        var update = ZoneUpdate()
        update.requireExists(layout.lease(of: id), .txt)
        if case .mine = host.claim {
            update.require(name, .dhcid, id.ownership(of: name))
        } else {
            update.requireUnused(name)
        }
        for type in [RecordType.a, .aaaa] { update.deleteAll(name, type) }
        for address in host.addresses.sorted(by: { $0.description < $1.description }) {
            switch address {
            case .v4(let v4): update.add(name, .a, .a(v4.bits), ttl: ttl)
            case .v6(let v6, _): update.add(name, .aaaa, .aaaa(high: v6.high, low: v6.low), ttl: ttl)
            }
        }
        update.replace(name, .dhcid, with: id.ownership(of: name), ttl: ttl)
        update.add(layout.manifest(ZoneLayout.shard(of: name), of: id), .ptr, .ptr(name), ttl: ttl)
        host.mayExist = true
        send(.host(version: host.version), .update(update, subject: "\(name)"))
    }

    mutating func hostSent(_ version: Int, _ reply: ZoneReply, _ now: Duration) {
        host.isInFlight = false
        switch reply {
        case .outcome(.done):
            host.claim = .mine
            host.acknowledged = version
            host.delay.succeeded()
        case .outcome(.nameInUse): host.claim = .unclear
        case .outcome(.notAsRequired):
            lease.isDoubtful = true
            if case .mine = host.claim { host.claim = .unclear }
        case .outcome(.refused(let error)): refuseAll(error, now)
        case .outcome(.serverFailed): refuseAll(.init(.backendFailed, serverFailure), now)
        default: break
        }
    }

    mutating func hostOwnerRead(_ reply: ZoneReply, _ now: Duration) {
        host.isInFlight = false
        guard case .records(let owners) = reply else { return hostUnknown(now) }
        guard let name = hostName else { return }
        if owners.isEmpty {
            // The name has become free, or its owner has no DHCID record.
            if case .unclear = host.claim { host.claim = .foreign(found: [:]) }
        } else if owners == [id.ownership(of: name)] {
            (host.claim, host.isBorrowed) = (.mine, false)
            host.acknowledged = min(host.acknowledged, host.version - 1)
        } else {
            nextHost()
        }
    }

    mutating func hostAddressesRead(_ type: RecordType, _ reply: ZoneReply, _ now: Duration) {
        host.isInFlight = false
        guard case .records(let records) = reply else { return hostUnknown(now) }
        guard case .foreign(var found) = host.claim else { return }
        found[type] = Set(records.compactMap { IPAddress($0, scope: 0) })
        guard let v4 = found[.a], let v6 = found[.aaaa] else {
            host.claim = .foreign(found: found)
            return
        }
        let there = v4.union(v6)
        if there.isEmpty {
            host.isBorrowed = false
            host.tries += 1
            if host.tries > 2 { nextHost() } else { host.claim = .free }
        } else if there.isSubset(of: host.addresses) {
            host.claim = .borrowed
            guard !host.isBorrowed else { return }
            (host.isBorrowed, host.mayExist) = (true, false)
            for number in items.keys where items[number]?.mayExist == true { items[number]?.changed() }
        } else {
            nextHost()
        }
    }

    /// The name is another host's. Tries the next one, to which services must then point.
    private mutating func nextHost() {
        host.number += 1
        (host.claim, host.acknowledged, host.mayExist, host.tries) = (.free, 0, false, 0)
        host.isBorrowed = false
        for number in items.keys where items[number]?.mayExist == true { items[number]?.changed() }
    }

    private mutating func hostUnknown(_ now: Duration) { host.retryAt = now + host.delay.failed(random.fraction()) }

    /// Reports a refusal of the host for every service, because none can exist without it.
    private mutating func refuseAll(_ error: DiscoveryError, _ now: Duration) {
        host.retryAt = now + host.delay.failed(random.fraction())
        for (number, item) in items where item.stage == .wanted { refuse(number, error) }
    }

    // MARK: The end

    mutating func removeHost(_ name: DomainName, onlyEntry: Bool) {
        var update = ZoneUpdate()
        if !onlyEntry { update.remove(host: name, of: id) }
        update.forget([name], in: ZoneLayout.shard(of: name), of: id, layout)
        hostsInFlight.insert(name)
        send(onlyEntry ? .hostClearing(name) : .hostRemoval(name), .update(update, subject: "\(name)"))
    }

    mutating func hostRemoved(_ name: DomainName, _ reply: ZoneReply, _ now: Duration) {
        hostsInFlight.remove(name)
        switch reply {
        case .outcome(.done): hostsToRemove[name] = nil
        // The name is not this publisher's, or an earlier answer was lost.
        case .outcome(.notAsRequired): hostsToRemove[name] = true
        // The key may no longer write this host: its records stay, and everything else must go on.
        case .outcome(.refused): hostsToRemove[name] = true
        case .outcome(.serverFailed): pause(.waiting(serverFailure), now)
        default: break
        }
    }

    mutating func hostCleared(_ name: DomainName, _ reply: ZoneReply, _ now: Duration) {
        hostsInFlight.remove(name)
        switch reply {
        case .outcome(.refused(let error)): pause(.refused(error), now)
        case .outcome(.serverFailed): pause(.waiting(serverFailure), now)
        case .outcome(.unheard): break
        default: hostsToRemove[name] = nil
        }
    }
}
