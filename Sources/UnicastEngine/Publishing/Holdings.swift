package import DNSMessage
package import DNSSD
import WireNames

/// The names that one service's records are at, and that they point to.
package struct InstanceNames: Hashable, Sendable {
    /// Whose SRV, TXT and DHCID records they are.
    package let instance: DomainName
    /// Where the type's services are listed.
    package let list: DomainName
    /// The same of subtypes.
    package var subtypes: Set<DomainName> = []

    /// - Returns: nil when a name would be too long.
    package init?(_ service: OfferedService, as name: ServiceName) {
        let identity = ServiceInstance(name: name, type: service.type, domain: service.domain)
        guard let instance = DomainName(identity), let list = instance.parent else { return nil }
        self.instance = instance
        self.list = list
        for subtype in service.subtypes {
            guard let name = list.prefixed([Array(subtype.utf8), Array("_sub".utf8)]) else { return nil }
            subtypes.insert(name)
        }
        guard entries.count == 1 + subtypes.count else { return nil }
    }

    init(instance: DomainName, list: DomainName) {
        self.instance = instance
        self.list = list
    }

    /// What the manifest lists for it, all in the shard of the instance: itself, and for each subtype a name of the form
    /// `_printer._sub.<instance>`, which has no records.
    package var entries: [DomainName] {
        [instance] + subtypes.compactMap { list in instance.prefixed(list.labels.prefix(2).map(Array.init)) }
    }

    /// The shard of the manifest that lists it.
    package var shard: Int { ZoneLayout.shard(of: instance) }
}

/// What a publisher's manifest lists, put together.
package struct Holdings: Hashable, Sendable {
    /// Services by their instance.
    package private(set) var instances: [DomainName: InstanceNames] = [:]
    /// Hosts.
    package private(set) var hosts: Set<DomainName> = []

    package init() {}

    package var isEmpty: Bool { instances.isEmpty && hosts.isEmpty }

    /// Takes a service out.
    mutating func remove(_ instance: DomainName) -> InstanceNames? { instances.removeValue(forKey: instance) }

    /// Reads one entry of a manifest; what is not in the domain is not ours to touch, and left out.
    package mutating func add(_ entry: DomainName, in layout: ZoneLayout) {
        guard entry.isWithin(layout.root) else { return }
        let labels = entry.labels
        let own = labels.count - layout.root.labels.count
        if own == 3, labels[1].first == UInt8(ascii: "_"), let list = entry.parent {
            instances[entry] = instances[entry] ?? InstanceNames(instance: entry, list: list)
        } else if own == 5, labels[1].elementsEqual("_sub".utf8), let instance = entry.parent?.parent,
            let list = instance.parent, let subtype = list.prefixed([Array(labels[0]), Array(labels[1])])
        {
            instances[instance, default: InstanceNames(instance: instance, list: list)].subtypes.insert(subtype)
        } else if own > 0 {
            hosts.insert(entry)
        }
    }
}
