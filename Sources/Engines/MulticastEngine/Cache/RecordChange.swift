import DNSMessage

extension RecordCache.Change {
    /// The record's name and type.
    var key: RecordKey {
        switch self {
        case .added(let key, _), .removed(let key, _), .heard(let key, _, _), .unheard(let key, _, _): key
        }
    }

    /// What came; nil for what went.
    var arrival: RecordData? {
        switch self {
        case .added(_, let data), .heard(_, let data, _): data
        case .removed, .unheard: nil
        }
    }

    /// What it is for whoever sees the cache as it is in view; nil for nothing.
    func parts(in cache: RecordCache) -> (key: RecordKey, data: RecordData, isAdded: Bool)? {
        switch self {
        case .added(let key, let data): cache.view == nil || cache.has(key, data) ? (key, data, true) : nil
        case .removed(let key, let data): (key, data, false)
        case .heard(let key, let data, let family): family == cache.view ? (key, data, true) : nil
        case .unheard(let key, let data, let family): family == cache.view ? (key, data, false) : nil
        }
    }
}

extension RecordType {
    /// Types 128 to 255 are for questions and signatures, and never cached (RFC 6895 §3.1); OPT belongs to its message.
    var isData: Bool { rawValue != 0 && !(128...255 ~= rawValue) && self != .opt }

    /// Several hosts answer for one name, each with its own records: the cache-flush bit has no meaning (RFC 6762
    /// §10.2).
    var isShared: Bool { self == .ptr }
}
