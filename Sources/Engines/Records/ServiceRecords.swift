package import DNSMessage
package import DNSSD
import Discovery

/// What a source knows of one service: first who offers it, then all that belongs to that.
package struct ServiceRecords: Sendable {
    package typealias Target = (priority: UInt16, weight: UInt16, port: UInt16, host: DomainName)

    /// The most addresses reported of one host; half of each family if there are enough.
    static let mostAddresses = 32
    /// The most SRV records of one service that are used; a catalog keeps no more.
    private static let mostTargets = 8

    package let name: DomainName
    /// The types of addresses that are wanted.
    package let addressTypes: [RecordType]
    /// SRV records, lowest priority first, in an order independent of arrival.
    package private(set) var targets: [Target] = []
    /// Whether there are SRV records, and whether all of them say that there is no service (RFC 2782).
    private(set) var hasService = false
    /// The data of the TXT record; empty if there is none, as a host says, or if it has no bytes or cannot be read, which
    /// is equivalent (RFC 6763 §6.1). Nil if nothing is known.
    private(set) var text: [UInt8]?
    /// The addresses of each target, in the same order; sorted for each target.
    package private(set) var addresses: [[IPAddress]] = []
    /// Whether each target's addresses of all wanted families are present, denied, or failed.
    private(set) var isSettled = true
    /// Whether something is known of them: present or denied.
    private(set) var isSaid = false
    /// Whether it is known that there are none.
    private(set) var isDenied = true
    /// Whether a target's A records are neither present nor denied.
    private(set) var lacksIPv4 = false
    /// Whether this machine sent all SRV and address records.
    package private(set) var isOwn = true
    /// Who sent the first SRV record.
    package private(set) var sender: UInt16 = 0
    /// A host with more addresses than are reported.
    private(set) var crowdedHost: DomainName?

    /// Reads the SRV records.
    init<Source: RecordSource>(of name: DomainName, _ addressTypes: [RecordType], in source: borrowing Source) {
        self.name = name
        self.addressTypes = addressTypes
        let services = source.records(RecordKey(name, .srv)).lasting
        guard let first = services.first else { return }
        (hasService, sender) = (true, first.sender)
        for record in services {
            guard case .srv(let priority, let weight, let port, let host) = record.data, host != .root else { continue }
            targets.append((priority, weight, port, host))
            isOwn = isOwn && record.isOwn
        }
        guard targets.count > 1 else { return }
        targets.sort {
            ($0.priority, $1.weight, $0.port) < ($1.priority, $0.weight, $1.port)
                || ($0.priority, $1.weight, $0.port) == ($1.priority, $0.weight, $1.port)
                    && $0.host.wire.lexicographicallyPrecedes($1.host.wire)
        }
        targets = Array(targets.prefix(Self.mostTargets))
    }

    /// Leaves out targets whose hosts are not followed.
    mutating func keep(_ isFollowed: (DomainName) -> Bool) {
        if !targets.allSatisfy({ isFollowed($0.host) }) { targets = targets.filter { isFollowed($0.host) } }
    }

    /// Reads the TXT record and the addresses of the targets.
    /// - Parameters:
    ///   - scope: the interface's index, for addresses that mean something there alone.
    ///   - keepsAll: addresses that no host can have are kept, too: who dials says why not these.
    mutating func read<Source: RecordSource>(_ source: borrowing Source, scope: UInt32, keepsAll: Bool) {
        text = Self.text(of: source.records(RecordKey(name, .txt)))
        if text == nil, source.standing(RecordKey(name, .txt)) != .unknown { text = [] }
        addresses.reserveCapacity(targets.count)
        for target in targets {
            addresses.append(read(target.host, source, scope: scope, keepsAll: keepsAll))
        }
    }

    private mutating func read<Source: RecordSource>(
        _ host: DomainName, _ source: borrowing Source, scope: UInt32, keepsAll: Bool
    ) -> [IPAddress] {
        // An address stays until it ends: others of the host may follow in messages of their own (RFC 6762 §10.2).
        var records: [[KnownRecord]] = []
        for type in addressTypes {
            let key = RecordKey(host, type)
            let found = source.records(key)
            records.append(found)
            isOwn = isOwn && found.allSatisfy(\.isOwn)
            guard found.isEmpty else {
                (isSaid, isDenied) = (true, false)
                continue
            }
            let standing = source.standing(key)
            if standing == .unknown { isSettled = false }
            if standing == .denied { isSaid = true } else { isDenied = false }
            if type == .a, standing != .denied { lacksIPv4 = true }
        }
        let count = records.reduce(0) { $0 + $1.count }
        if count > Self.mostAddresses {
            crowdedHost = host
            let share = Self.mostAddresses / records.count
            for index in records.indices {
                let others = count - records[index].count
                records[index] = records[index].nearest(max(share, Self.mostAddresses - others), in: copy source)
            }
        }
        var addresses: [IPAddress] = []
        addresses.reserveCapacity(count)
        for record in records.joined() {
            guard let address = IPAddress(record.data, scope: scope), keepsAll || address.canBeOfHost else { continue }
            addresses.append(address)
        }
        addresses.sort()
        return addresses
    }

    /// Several TXT records are not merged (RFC 6763 §6.8). The newest counts: on a link the others expire within a second (RFC
    /// 6762 §10.2). Of those that came together it is the same one whatever their order.
    private static func text(of records: [KnownRecord]) -> [UInt8]? {
        func bytes(_ record: KnownRecord) -> [UInt8] { if case .txt(let bytes) = record.data { bytes } else { [] } }
        guard let first = records.first else { return nil }
        return records.dropFirst().reduce((received: first.received, bytes: bytes(first))) { best, record in
            let other = bytes(record)
            let isBetter =
                record.received > best.received
                || record.received == best.received && other.lexicographicallyPrecedes(best.bytes)
            return isBetter ? (record.received, other) : best
        }.bytes
    }

    /// Whether there are SRV and an address, or SRV alone with port 0, which cannot be dialled.
    var isDialable: Bool {
        !targets.isEmpty && (addresses.contains { !$0.isEmpty } || targets.allSatisfy { $0.port == 0 })
    }

    /// Returns the resolution; nil without a target.
    /// - Parameters:
    ///   - instance: the service.
    ///   - origin: where the records come from.
    ///   - host: returns a target's name and addresses, which its services share; targets without one are left out.
    ///   - txt: what the TXT record says.
    func resolution(
        of instance: ServiceInstance, at origin: Origin, on host: (DomainName) -> ServiceGraph.Host?, txt: TXTRecord
    ) -> Resolution? {
        var all = zip(targets, addresses).compactMap { target, addresses -> Resolution.Target? in
            guard let host = host(target.host), let name = host.name else { return nil }
            return Resolution.Target(
                host: name, port: Port(rawValue: target.port), priority: target.priority, weight: target.weight,
                addresses: host.addresses == addresses ? host.addresses : addresses)
        }[...]
        guard let first = all.popFirst() else { return nil }
        return Resolution(instance: instance, origin: origin, target: first, alternatives: Array(all), txt: txt)
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

extension [KnownRecord] {
    /// Returns at most `limit` records: addresses of this machine's networks first, then the oldest.
    fileprivate func nearest<Source: RecordSource>(_ limit: Int, in source: Source) -> [KnownRecord] {
        guard count > limit else { return self }
        let ranked = map { (isFar: !source.isNear($0.data), record: $0) }.sorted {
            $0.isFar == $1.isFar ? $0.record.firstReceived < $1.record.firstReceived : !$0.isFar
        }
        return ranked.prefix(limit).map(\.record)
    }

    /// The records that are not ending, or all if there are none: replacements have arrived for the others (RFC 6762
    /// §10.2).
    fileprivate var lasting: [KnownRecord] {
        guard contains(where: \.isEnding), contains(where: { !$0.isEnding }) else { return self }
        return filter { !$0.isEnding }
    }
}
