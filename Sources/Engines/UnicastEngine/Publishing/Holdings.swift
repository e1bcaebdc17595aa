package import DNSMessage
package import DNSSD

/// The names of one service's records, or of an alias'.
package struct InstanceNames: Hashable, Sendable {
    /// The name of its SRV, TXT and DHCID records; of an alias', which has no others.
    package let instance: DomainName
    /// The name at which services of its type are listed.
    package let list: DomainName
    /// The names at which services of its subtypes are listed.
    package var subtypes: Set<DomainName> = []

    /// Creates the names of a service; nil if one would be too long, or a wildcard.
    package init?(_ service: OfferedService, as name: ServiceName) {
        guard service.aliasFault == nil else { return nil }
        if service.isAlias {
            guard let alias = service.host(as: name).flatMap({ try? DomainName(presentation: $0.name.text) }),
                let parent = alias.parent, !alias.isWildcard
            else { return nil }
            (instance, list) = (alias, parent)
            return
        }
        let identity = ServiceInstance(name: name, type: service.type, domain: service.domain)
        guard let instance = DomainName(identity), let list = instance.parent, !instance.isWildcard else { return nil }
        self.instance = instance
        self.list = list
        for subtype in service.subtypes {
            guard let name = list.prefixed([Array(subtype.utf8), Array("_sub".utf8)]), !name.isWildcard else {
                return nil
            }
            subtypes.insert(name)
        }
        guard entries.count == 1 + subtypes.count else { return nil }
    }

    init(instance: DomainName, list: DomainName) {
        self.instance = instance
        self.list = list
    }

    /// The manifest's entries for the service, all in the shard of the instance: the instance itself, and for each
    /// subtype a name of the form `_printer._sub.<instance>`, which has no records.
    package var entries: [DomainName] {
        [instance] + subtypes.compactMap { list in instance.prefixed(list.labels.prefix(2).map(Array.init)) }
    }

    /// The shard of the manifest that lists the service.
    package var shard: Int { ZoneLayout.shard(of: instance) }
}

/// The services and hosts that a publisher's manifest lists.
package struct Holdings: Hashable, Sendable {
    /// The services by the names of their instances.
    package private(set) var instances: [DomainName: InstanceNames] = [:]
    /// The names of the hosts.
    package private(set) var hosts: Set<DomainName> = []

    package init() {}

    package var isEmpty: Bool { instances.isEmpty && hosts.isEmpty }

    /// Removes a service, and returns it.
    mutating func remove(_ instance: DomainName) -> InstanceNames? { instances.removeValue(forKey: instance) }

    /// Reads one entry of a manifest. Names outside the domain are ignored: they are not ours to touch.
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

/// Which item of a publisher holds each name, and how much of its manifest they fill.
struct HeldNames: Sendable {
    private var holders: [DomainName: Int] = [:]
    /// The number of entries in each shard of the manifest.
    private var entries = [Int](repeating: 0, count: ZoneLayout.shards)

    func holder(of name: DomainName) -> Int? { holders[name] }

    /// Returns the number of entries of services in a shard.
    func entries(in shard: Int) -> Int { entries[shard] }

    mutating func hold(_ names: InstanceNames, for number: Int) {
        holders[names.instance] = number
        entries[names.shard] += names.entries.count
    }

    mutating func release(_ names: InstanceNames, of number: Int) {
        guard holders[names.instance] == number else { return }
        holders[names.instance] = nil
        entries[names.shard] -= names.entries.count
    }
}

/// The services that the server lists under each type, as they were read a while ago.
struct TypeLists: Sendable {
    /// How long a list counts after it was read.
    private static let memory = Duration.seconds(60)

    private var lists: [DomainName: (names: Set<DomainName>, readAt: Duration)] = [:]
    private var asked: Set<DomainName> = []

    /// What is known of the room for a service.
    enum Room {
        case free
        /// The list has this many services, and takes no more.
        case full(Int)
        /// The list must be read.
        case unknown
    }

    func room(for names: InstanceNames, _ now: Duration) -> Room {
        guard let known = lists[names.list], now - known.readAt < Self.memory else { return .unknown }
        let hasRoom = known.names.contains(names.instance) || known.names.count < ZoneLayout.mostServices
        return hasRoom ? .free : .full(known.names.count)
    }

    /// Returns whether the server must be asked, because it has not been.
    mutating func asks(for list: DomainName) -> Bool { asked.insert(list).inserted }

    mutating func read(_ list: DomainName, _ reply: ZoneReply, _ now: Duration) {
        asked.remove(list)
        guard case .records(let records) = reply else { return }
        lists = lists.filter { now - $0.value.readAt < Self.memory }
        lists[list] = (Set(records.targets), now)
    }

    mutating func add(_ names: InstanceNames) { lists[names.list]?.names.insert(names.instance) }

    mutating func forget(_ list: DomainName) { lists[list] = nil }

    mutating func forgetAll() { lists = [:] }
}
