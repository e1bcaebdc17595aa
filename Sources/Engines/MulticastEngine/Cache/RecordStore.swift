import DNSMessage

/// Stores records, and finds them by slot, by key and by content. The rules are elsewhere.
struct RecordStore: Sendable {
    private struct Identity: Hashable {
        let key: RecordKey
        let data: RecordData
    }

    private var slots: [CachedRecord?] = []
    private var free: [Int32] = []
    /// The first record of each key; the others are linked to it.
    private var heads = PlaceIndex()
    /// The slot of each record; one key may have thousands.
    private var places = PlaceIndex()
    /// Approximate bytes of all records.
    private(set) var size = 0

    var count: Int { places.count }
    var indices: Range<Int> { slots.indices }

    /// The record in a slot; changing its fields does not move it.
    subscript(slot: Int) -> CachedRecord? {
        get { slots[slot] }
        _modify { yield &slots[slot] }
    }

    // MARK: Reading

    private func first(of key: RecordKey) -> Int? {
        heads.find(key.code) { slots[$0]?.key == key }
    }

    /// The number of records of a key.
    func count(of key: RecordKey) -> Int {
        first(of: key).flatMap { slots[$0] }.map { Int($0.links.count) } ?? 0
    }

    /// The slots of a key's records, or of those that are wanted; unordered, for callers that change them.
    func slots(of key: RecordKey, where isWanted: (CachedRecord) -> Bool = { _ in true }) -> [Int] {
        var found: [Int] = []
        var slot = first(of: key) ?? -1
        while slot >= 0, let record = slots[slot] {
            if isWanted(record) { found.append(slot) }
            slot = Int(record.links.next)
        }
        return found
    }

    /// Passes on the records of a key, unordered, until `isEnough` returns true.
    func look(_ key: RecordKey, _ isEnough: (CachedRecord) -> Bool) {
        var slot = first(of: key) ?? -1
        while slot >= 0, let record = slots[slot] {
            if isEnough(record) { return }
            slot = Int(record.links.next)
        }
    }

    func slot(of key: RecordKey, _ data: RecordData) -> Int? {
        places.find(Identity(key: key, data: data).shortHash) { slots[$0]?.key == key && slots[$0]?.data == data }
    }

    // MARK: Changing

    /// Inserts a record that is not in the store.
    /// - Returns: its slot.
    mutating func insert(_ record: CachedRecord) -> Int {
        let slot = free.popLast().map { Int($0) } ?? slots.count
        if slot == slots.count { slots.append(nil) }
        var record = record
        if let head = first(of: record.key) {
            record.links.previous = Int32(clamping: head)
            record.links.next = slots[head]?.links.next ?? -1
            slots[head]?.links.next = Int32(clamping: slot)
            slots[head]?.links.count += 1
            if record.links.next >= 0 { slots[Int(record.links.next)]?.links.previous = Int32(clamping: slot) }
        } else {
            heads.insert(slot, record.key.code)
        }
        places.insert(slot, Identity(key: record.key, data: record.data).shortHash)
        size += Self.size(record.key, record.data)
        slots[slot] = record
        return slot
    }

    /// - Returns: the removed record.
    @discardableResult
    mutating func remove(_ slot: Int) -> CachedRecord? {
        guard let record = slots[slot] else { return nil }
        unlink(slot, record)
        places.remove(slot, Identity(key: record.key, data: record.data).shortHash)
        size -= Self.size(record.key, record.data)
        slots[slot] = nil
        free.append(Int32(clamping: slot))
        return record
    }

    private mutating func unlink(_ slot: Int, _ record: CachedRecord) {
        let links = record.links
        if links.previous >= 0 {
            if let head = first(of: record.key) { slots[head]?.links.count -= 1 }
            slots[Int(links.previous)]?.links.next = links.next
        } else {
            heads.remove(slot, record.key.code)
            if links.next >= 0 {
                heads.insert(Int(links.next), record.key.code)
                slots[Int(links.next)]?.links.count = links.count - 1
            }
        }
        if links.next >= 0 { slots[Int(links.next)]?.links.previous = links.previous }
    }

    /// Returns the approximate bytes of a record: its slot, its index entries, and its names and data, as if it shared
    /// them with no other.
    static func size(_ key: RecordKey, _ data: RecordData) -> Int {
        let rest =
            switch data {
            case .txt(let bytes), .other(let bytes): block + bytes.count
            case .ptr(let name), .cname(let name), .ns(let name), .srv(_, _, _, let name): block + name.wire.count
            case .nsec(let next, let types): 3 * block + next.wire.count + types.bytes.count
            case .hinfo(let cpu, let os): 2 * block + cpu.count + os.count
            case .soa(let soa): 3 * block + soa.primary.wire.count + soa.mailbox.wire.count
            case .tsig(let signature):
                3 * block + signature.algorithm.wire.count + signature.mac.count + signature.other.count
            case .a, .aaaa: 0
            }
        return MemoryLayout<CachedRecord?>.stride + 32 + block + key.name.wire.count + rest
    }

    /// The overhead of an array: its header and the allocator's.
    private static let block = 48
}
