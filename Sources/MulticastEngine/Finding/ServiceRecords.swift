import DNSMessage
import DNSSD
import Discovery
import WireNames

/// A snapshot of one service's records in a link's cache.
struct ServiceRecords {
    /// The most addresses reported of one host; half of each family if there are enough.
    static let mostAddresses = 32

    /// SRV records, lowest priority first, in an order independent of arrival.
    let targets: [(priority: UInt16, weight: UInt16, port: UInt16, host: DomainName)]
    /// The data of the TXT record; empty if there is none, as a host says, or if it has no bytes or cannot be read, which
    /// is equivalent (RFC 6763 §6.1). Nil if nothing is known.
    let text: [UInt8]?
    /// The addresses of each target, in the same order; sorted for each target.
    let addresses: [[IPAddress]]
    /// Whether both families of each target's addresses are present or denied.
    let hasBothFamilies: Bool
    /// Whether a target's A records are neither present nor denied.
    let lacksIPv4: Bool
    /// Whether this machine sent all SRV and address records.
    let isOwn: Bool
    /// Who sent the first SRV record.
    let source: PacketSource
    /// A host with more addresses than are reported.
    let crowdedHost: DomainName?

    /// - Parameter keepsAll: addresses that no host can have are kept, too: who dials says why not these.
    init(of name: DomainName, in cache: RecordCache, scope: UInt32, keepsAll: Bool = false) {
        var isOwn = true
        var targets: [(priority: UInt16, weight: UInt16, port: UInt16, host: DomainName)] = []
        let services = cache.records(RecordKey(name, .srv)).lasting
        source = services.first?.source ?? .asked
        for record in services {
            guard case .srv(let priority, let weight, let port, let host) = record.data else { continue }
            targets.append((priority, weight, port, host))
            isOwn = isOwn && record.isOwn
        }
        if targets.count > 1 {
            targets.sort {
                ($0.priority, $1.weight, $0.port) < ($1.priority, $0.weight, $1.port)
                    || ($0.priority, $1.weight, $0.port) == ($1.priority, $0.weight, $1.port)
                        && $0.host.wire.lexicographicallyPrecedes($1.host.wire)
            }
        }
        // The newest of several: the others expire within a second (RFC 6762 §10.2).
        let texts = cache.records(RecordKey(name, .txt))
        text =
            texts.max { $0.received < $1.received }.map { if case .txt(let bytes) = $0.data { bytes } else { [] } }
            ?? (cache.isDenied(RecordKey(name, .txt)) ? [] : nil)
        var (hasBothFamilies, lacksIPv4, crowdedHost) = (true, false, nil as DomainName?)
        addresses = targets.map { target in
            let v4 = RecordKey(target.host, .a)
            let v6 = RecordKey(target.host, .aaaa)
            // An address stays until it ends: others of the host may follow in messages of their own (RFC 6762 §10.2).
            let (records4, records6) = (cache.records(v4), cache.records(v6))
            lacksIPv4 = lacksIPv4 || records4.isEmpty && !cache.isDenied(v4)
            hasBothFamilies = hasBothFamilies && !lacksIPv4 && (!records6.isEmpty || cache.isDenied(v6))
            isOwn = isOwn && (records4 + records6).allSatisfy(\.isOwn)
            let (most, half) = (Self.mostAddresses, Self.mostAddresses / 2)
            if records4.count + records6.count > most { crowdedHost = target.host }
            let chosen =
                records4.nearest(max(half, most - records6.count), in: cache)
                + records6.nearest(max(half, most - records4.count), in: cache)
            return chosen.compactMap { IPAddress($0.data, scope: scope) }.filter { keepsAll || $0.canBeOfHost }.sorted()
        }
        self.crowdedHost = crowdedHost
        self.targets = targets
        self.isOwn = isOwn
        self.hasBothFamilies = hasBothFamilies
        self.lacksIPv4 = lacksIPv4
    }

    /// Whether there are SRV and an address, or SRV alone with port 0, which cannot be dialled.
    var isDialable: Bool {
        !targets.isEmpty && (addresses.contains { !$0.isEmpty } || targets.allSatisfy { $0.port == 0 })
    }

    /// Returns the resolution; nil without a target.
    /// - Parameters:
    ///   - instance: the service.
    ///   - origin: the link.
    ///   - host: returns a target's name and addresses, which its services share; targets without one are left out.
    func resolution(
        of instance: ServiceInstance, at origin: Origin, on host: (DomainName) -> ServiceBrowse.Host?
    ) -> Resolution? {
        var all = zip(targets, addresses).compactMap { target, addresses -> Resolution.Target? in
            guard let host = host(target.host), let name = host.name else { return nil }
            return Resolution.Target(
                host: name, port: Port(rawValue: target.port), priority: target.priority, weight: target.weight,
                addresses: host.addresses == addresses ? host.addresses : addresses)
        }[...]
        guard let first = all.popFirst() else { return nil }
        let strings = TextStrings.strings(of: text ?? []) ?? []
        var resolution = Resolution(
            instance: instance, origin: origin, target: first, alternatives: Array(all),
            txt: TXTRecord(strings: strings))
        resolution.sender = source.number
        return resolution
    }
}

extension IPAddress {
    /// Whether one host can have the address: not 0.0.0.0, `::`, multicast or broadcast.
    fileprivate var canBeOfHost: Bool {
        switch self {
        case .v4(let address): !address.isUnspecified && !address.isMulticast && !address.isBroadcast
        case .v6(let address, _): !address.isUnspecified && !address.isMulticast
        }
    }
}

extension [CachedRecord] {
    /// Returns at most `limit` records: addresses of this link first, then the oldest.
    fileprivate func nearest(_ limit: Int, in cache: RecordCache) -> [CachedRecord] {
        guard count > limit else { return self }
        let ranked = map { (isFar: !cache.isOfNeighbour($0.data), record: $0) }.sorted {
            $0.isFar == $1.isFar ? $0.record.firstReceived < $1.record.firstReceived : !$0.isFar
        }
        return ranked.prefix(limit).map(\.record)
    }

    /// The records that are not ending, or all if there are none: replacements have arrived for the others (RFC 6762
    /// §10.2).
    fileprivate var lasting: [CachedRecord] {
        guard contains(where: \.isEnding), contains(where: { !$0.isEnding }) else { return self }
        return filter { !$0.isEnding }
    }
}
