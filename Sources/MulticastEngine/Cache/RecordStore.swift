import DNSMessage

/// Records by place, by key, and by what they say. It keeps no rules.
struct RecordStore: Sendable {
    private struct Identity: Hashable {
        let key: RecordKey
        let data: RecordData
    }

    private var slots: [CachedRecord?] = []
    private var free: [Int] = []
    /// The slots of each key, in no order.
    private var groups: [RecordKey: [Int]] = [:]
    /// Where each record is; groups may be large.
    private var places: [Identity: Int] = [:]
    /// Bytes of names and data, and some for each record.
    private(set) var size = 0

    var count: Int { places.count }
    var indices: Range<Int> { slots.indices }

    /// The record in a slot; setting its parts leaves it where it is.
    subscript(slot: Int) -> CachedRecord? {
        get { slots[slot] }
        _modify { yield &slots[slot] }
    }

    /// The slots of a key, in no order.
    func slots(of key: RecordKey) -> [Int] { groups[key] ?? [] }

    func slot(of key: RecordKey, _ data: RecordData) -> Int? { places[Identity(key: key, data: data)] }

    /// - Returns: where it is now. It must not be there already.
    mutating func insert(_ record: CachedRecord) -> Int {
        let slot = free.popLast() ?? slots.count
        if slot == slots.count { slots.append(nil) }
        var record = record
        record.position = groups[record.key]?.count ?? 0
        slots[slot] = record
        groups[record.key, default: []].append(slot)
        places[Identity(key: record.key, data: record.data)] = slot
        size += Self.size(record.key, record.data)
        return slot
    }

    /// - Returns: the record that was there.
    @discardableResult
    mutating func remove(_ slot: Int) -> CachedRecord? {
        guard let record = slots[slot] else { return nil }
        slots[slot] = nil
        free.append(slot)
        places[Identity(key: record.key, data: record.data)] = nil
        size -= Self.size(record.key, record.data)
        guard var group = groups.removeValue(forKey: record.key), let last = group.popLast() else { return record }
        if last != slot {
            group[record.position] = last
            slots[last]?.position = record.position
        }
        groups[record.key] = group.isEmpty ? nil : group
        return record
    }

    /// What a record takes, about.
    static func size(_ key: RecordKey, _ data: RecordData) -> Int {
        let rest =
            switch data {
            case .txt(let bytes), .other(let bytes): bytes.count
            case .ptr(let name), .cname(let name), .ns(let name), .srv(_, _, _, let name): name.wire.count
            case .nsec(let next, let types): next.wire.count + types.count * 4
            case .hinfo(let cpu, let os): cpu.count + os.count
            case .soa(let soa): soa.primary.wire.count + soa.mailbox.wire.count
            case .a, .aaaa: 0
            }
        return key.name.wire.count + rest + 64
    }
}
