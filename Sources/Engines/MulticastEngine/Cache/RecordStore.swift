import DNSMessage

/// Stores records, and finds them by slot, by key and by content. The rules are elsewhere.
struct RecordStore: Sendable {
    private var slots = PartedArray<CachedRecord?>()
    private var free: [Int32] = []
    /// The first record of each key; the others are linked to it.
    private var heads = PlaceIndex()
    /// The slots of the records that many hosts share: one key may have thousands. Of the others it has as many as the cache's
    /// `uniqueRecords`, which are looked through.
    private var places = PlaceIndex()
    /// Approximate bytes of all records.
    private(set) var size = 0

    private(set) var count = 0
    var indices: Range<Int> { slots.indices }

    /// The record in a slot; changing its fields does not move it.
    subscript(slot: Int) -> CachedRecord? {
        _read { yield slots[slot] }
        _modify { yield &slots[slot] }
    }

    // MARK: Reading

    private func first(of key: RecordKey) -> Int? {
        heads.find(key.code) { slots[$0]?.key == key }
    }

    /// The number of records of a key.
    func count(of key: RecordKey) -> Int {
        first(of: key).flatMap { slots[$0]?.life.links.count }.map { Int($0) } ?? 0
    }

    /// The slots of a key's records, or of those that are wanted; unordered, for callers that change them.
    func slots(of key: RecordKey, where isWanted: (RecordLife) -> Bool = { _ in true }) -> [Int] {
        var found: [Int] = []
        walk(key) { slot, life in
            if isWanted(life) { found.append(slot) }
            return false
        }
        return found
    }

    /// Passes on the records of a key, unordered, until `isEnough` returns true.
    func look(_ key: RecordKey, _ isEnough: (CachedRecord) -> Bool) {
        walk(key) { slot, _ in slots[slot].map(isEnough) ?? true }
    }

    /// Whether one of a key's records has such a life.
    func contains(_ key: RecordKey, where isWanted: (RecordLife) -> Bool) -> Bool {
        var isFound = false
        walk(key) { _, life in
            isFound = isWanted(life)
            return isFound
        }
        return isFound
    }

    /// Whether a key has this record alone.
    func holdsOnly(_ key: RecordKey, _ data: RecordData) -> Bool {
        guard let first = first(of: key) else { return false }
        return slots[first]?.life.links.count == 1 && slots[first]?.data == data
    }

    func slot(of key: RecordKey, _ data: RecordData) -> Int? {
        if key.type.isShared {
            return places.find(Self.code(key, data)) { slots[$0]?.key == key && slots[$0]?.data == data }
        }
        var found: Int?
        walk(key) { slot, _ in
            if slots[slot]?.data == data { found = slot }
            return found != nil
        }
        return found
    }

    /// Passes on slots and lives of the records of a key, unordered, until `isEnough` returns true.
    private func walk(_ key: RecordKey, _ isEnough: (Int, RecordLife) -> Bool) {
        var slot = first(of: key) ?? -1
        while slot >= 0, let life = slots[slot]?.life, !isEnough(slot, life) { slot = Int(life.links.next) }
    }

    /// A hash of a shared record: of a name that another one lists, from the hashes of both.
    private static func code(_ key: RecordKey, _ data: RecordData) -> UInt32 {
        if case .ptr(let name) = data { key.code &* 0x9E37_79B1 ^ name.code } else { data.shortHash ^ key.code }
    }

    // MARK: Changing

    /// Inserts a record that is not in the store.
    /// - Returns: its slot.
    mutating func insert(_ record: CachedRecord) -> Int {
        let slot = free.popLast().map { Int($0) } ?? slots.count
        if slot == slots.count { slots.append(nil) }
        var record = record
        if let head = first(of: record.key) {
            record.life.links.previous = Int32(clamping: head)
            record.life.links.next = slots[head]?.life.links.next ?? -1
            slots[head]?.life.links.next = Int32(clamping: slot)
            slots[head]?.life.links.count += 1
            let next = Int(record.life.links.next)
            if next >= 0 { slots[next]?.life.links.previous = Int32(clamping: slot) }
        } else {
            heads.insert(slot, record.key.code)
        }
        if record.key.type.isShared { places.insert(slot, Self.code(record.key, record.data)) }
        count += 1
        size += Self.size(record.key, record.data)
        slots[slot] = record
        return slot
    }

    /// - Returns: the removed record.
    @discardableResult
    mutating func remove(_ slot: Int) -> CachedRecord? {
        guard let record = slots[slot] else { return nil }
        unlink(slot, record)
        if record.key.type.isShared { places.remove(slot, Self.code(record.key, record.data)) }
        count -= 1
        size -= Self.size(record.key, record.data)
        slots[slot] = nil
        free.append(Int32(clamping: slot))
        return record
    }

    private mutating func unlink(_ slot: Int, _ record: CachedRecord) {
        let links = record.life.links
        if links.previous >= 0 {
            if let head = first(of: record.key) { slots[head]?.life.links.count -= 1 }
            slots[Int(links.previous)]?.life.links.next = links.next
        } else {
            heads.remove(slot, record.key.code)
            if links.next >= 0 {
                heads.insert(Int(links.next), record.key.code)
                slots[Int(links.next)]?.life.links.count = links.count - 1
            }
        }
        if links.next >= 0 { slots[Int(links.next)]?.life.links.previous = links.previous }
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
