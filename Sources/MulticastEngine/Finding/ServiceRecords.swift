import DNSMessage
import DNSSD
import Discovery

/// What a link's cache says of one service, read once.
struct ServiceRecords {
    /// SRV records, those of the lowest priority first, in an order that does not depend on when they came.
    let targets: [(priority: UInt16, weight: UInt16, port: UInt16, host: DomainName)]
    let text: [UInt8]?
    /// Of each target, in their order.
    let addresses: [[IPAddress]]
    /// Whether both families of each target's addresses are there, or denied.
    let hasBothFamilies: Bool
    /// This machine has said all of it.
    let isOwn: Bool

    init(of name: DomainName, in cache: RecordCache, scope: UInt32) {
        var isOwn = true
        var targets: [(priority: UInt16, weight: UInt16, port: UInt16, host: DomainName)] = []
        for record in cache.records(RecordKey(name, .srv)).lasting {
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
        // Of several the newest: the others end within a second (RFC 6762 §10.2).
        let texts = cache.records(RecordKey(name, .txt))
        text = texts.max { $0.received < $1.received }.flatMap {
            if case .txt(let bytes) = $0.data { bytes } else { nil }
        }
        var hasBothFamilies = true
        addresses = targets.map { target in
            let v4 = RecordKey(target.host, .a)
            let v6 = RecordKey(target.host, .aaaa)
            let (records4, records6) = (cache.records(v4).lasting, cache.records(v6).lasting)
            hasBothFamilies =
                hasBothFamilies && (!records4.isEmpty || cache.isDenied(v4))
                && (!records6.isEmpty || cache.isDenied(v6))
            isOwn = isOwn && (records4 + records6).allSatisfy(\.isOwn)
            return records4.compactMap { IPAddress($0.data, scope: scope) }
                + records6.compactMap { IPAddress($0.data, scope: scope) }
        }
        self.targets = targets
        self.isOwn = isOwn
        self.hasBothFamilies = hasBothFamilies
    }

    /// SRV is there, and an address, unless it says that there is no port to dial.
    var isDialable: Bool {
        !targets.isEmpty && (addresses.contains { !$0.isEmpty } || targets.allSatisfy { $0.port == 0 })
    }

    /// - Parameter host: the name of a target, which services share; nil for a name that none can have.
    func resolution(
        of instance: ServiceInstance, at origin: Origin, host: (DomainName) -> HostName?
    ) -> Resolution? {
        var all = zip(targets, addresses).compactMap { target, addresses in
            host(target.host).map {
                Resolution.Target(
                    host: $0, port: Port(rawValue: target.port), priority: target.priority, weight: target.weight,
                    addresses: addresses.sorted())
            }
        }[...]
        guard let first = all.popFirst() else { return nil }
        let strings = TextStrings.strings(of: text ?? []) ?? []
        return Resolution(
            instance: instance, origin: origin, target: first, alternatives: Array(all),
            txt: TXTRecord(strings: strings))
    }
}

extension [CachedRecord] {
    /// Without those that end, unless they are all there is: others have taken their place (RFC 6762 §10.2).
    fileprivate var lasting: [CachedRecord] {
        guard contains(where: \.isEnding), contains(where: { !$0.isEnding }) else { return self }
        return filter { !$0.isEnding }
    }
}
