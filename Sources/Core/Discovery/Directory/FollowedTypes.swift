import DNSSD

/// The service types whose services are followed, up to a limit. A type that is gone, and all its services with it,
/// gives way to a new one.
struct FollowedTypes {
    /// What becomes of a type.
    enum Outcome: Equatable {
        /// It is followed already.
        case known
        /// Its query must be opened, and that of a type that is gone closed.
        case new(closes: ServiceQuery?)
        /// There is no room.
        case leftOut
    }

    private struct Entry {
        /// The names under which it is listed: a type with subtypes has one query.
        var names: Set<TypeKey>
        var services = 0

        var isGone: Bool { names.isEmpty && services == 0 }
    }

    private var entries: [ServiceQuery: Entry] = [:]

    var queries: some Collection<ServiceQuery> { entries.keys }

    func contains(_ query: ServiceQuery) -> Bool { entries[query] != nil }

    mutating func found(_ name: TypeKey, _ query: ServiceQuery, limit: Int) -> Outcome {
        if entries[query]?.names.insert(name) != nil { return .known }
        var gone: ServiceQuery?
        if entries.count >= limit {
            gone = entries.first { $0.value.isGone }?.key
            guard let gone else { return .leftOut }
            entries[gone] = nil
        }
        entries[query] = Entry(names: [name])
        return .new(closes: gone)
    }

    mutating func lost(_ name: TypeKey, _ query: ServiceQuery) { entries[query]?.names.remove(name) }

    /// A service of a type was found (1) or lost (-1).
    mutating func services(of query: ServiceQuery, changedBy count: Int) { entries[query]?.services += count }
}
