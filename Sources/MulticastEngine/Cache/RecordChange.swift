import DNSMessage

extension RecordCache.Change {
    var parts: (key: RecordKey, data: RecordData, isAdded: Bool) {
        switch self {
        case .added(let key, let data): (key, data, true)
        case .removed(let key, let data): (key, data, false)
        }
    }
}
