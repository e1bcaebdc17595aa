import DNSMessage

/// Which item of a publisher holds each name, and how much of its manifest they fill.
struct HeldNames: Sendable {
    private var holders: [DomainName: Int] = [:]
    /// The number of entries in each shard of the manifest.
    private var entries = [Int](repeating: 0, count: ZoneLayout.shards)

    func holder(of name: DomainName) -> Int? { holders[name] }

    /// Returns the number of entries in the shard of the names if theirs have no room in it.
    func fullShard(for names: InstanceNames) -> Int? {
        let taken = entries[names.shard]
        return taken + names.entries.count > ZoneLayout.mostRecords ? taken : nil
    }

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
