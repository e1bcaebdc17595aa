import DNSMessage

/// Records by place, by key, and by what they say. It keeps no rules.
struct RecordStore: Sendable {
    private struct Identity: Hashable {
        let key: RecordKey
        let data: RecordData
    }

    private var slots: [CachedRecord?] = []
    private var free: [Int32] = []
    /// The first record of each key; the others hang on it.
    private var heads = PlaceIndex()
    /// Where each record is; there may be thousands of one key.
    private var places = PlaceIndex()
    /// Bytes that records take, about.
    private(set) var size = 0

    var count: Int { places.count }
    var indices: Range<Int> { slots.indices }

    /// The record in a slot; setting its parts leaves it where it is.
    subscript(slot: Int) -> CachedRecord? {
        get { slots[slot] }
        _modify { yield &slots[slot] }
    }

    // MARK: Reading

    private func first(of key: RecordKey) -> Int? {
        heads.find(key.shortHash) { slots[$0]?.key == key }
    }

    /// How many records a key has.
    func count(of key: RecordKey) -> Int {
        first(of: key).flatMap { slots[$0] }.map { Int($0.links.count) } ?? 0
    }

    /// The slots of a key, in no order: for who changes them.
    func slots(of key: RecordKey) -> [Int] {
        var found: [Int] = []
        var slot = first(of: key) ?? -1
        while slot >= 0, let record = slots[slot] {
            found.append(slot)
            slot = Int(record.links.next)
        }
        return found
    }

    /// Passes on the records of a key, in no order, until there is nothing more to look for.
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

    /// - Returns: where it is now. It must not be there already.
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
            heads.insert(slot, record.key.shortHash)
        }
        places.insert(slot, Identity(key: record.key, data: record.data).shortHash)
        size += Self.size(record.key, record.data)
        slots[slot] = record
        return slot
    }

    /// - Returns: the record that was there.
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
            heads.remove(slot, record.key.shortHash)
            if links.next >= 0 {
                heads.insert(Int(links.next), record.key.shortHash)
                slots[Int(links.next)]?.links.count = links.count - 1
            }
        }
        if links.next >= 0 { slots[Int(links.next)]?.links.previous = links.previous }
    }

    /// What a record takes, about: its slot and its places, and each of its names and data, which may be nobody else's.
    static func size(_ key: RecordKey, _ data: RecordData) -> Int {
        let rest =
            switch data {
            case .txt(let bytes), .other(let bytes): block + bytes.count
            case .ptr(let name), .cname(let name), .ns(let name), .srv(_, _, _, let name): block + name.wire.count
            case .nsec(let next, let types): 2 * block + next.wire.count + types.count * 4
            case .hinfo(let cpu, let os): 2 * block + cpu.count + os.count
            case .soa(let soa): 3 * block + soa.primary.wire.count + soa.mailbox.wire.count
            case .tsig(let signature):
                3 * block + signature.algorithm.wire.count + signature.mac.count + signature.other.count
            case .a, .aaaa: 0
            }
        return MemoryLayout<CachedRecord?>.stride + 32 + block + key.name.wire.count + rest
    }

    /// What an array takes besides its bytes: its head, and the allocator's.
    private static let block = 48
}
