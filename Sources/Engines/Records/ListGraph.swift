package import DNSMessage
package import DNSSD
package import Discovery

/// A query for what PTR records list, under one name or several: service types (RFC 6763 §9) or domains (RFC 6763 §11). A
/// value like `ServiceGraph`.
package struct ListGraph<Key: Hashable & Sendable>: Sendable {
    /// The most keys kept.
    package static var most: Int { 4096 }

    private struct Entry: Hashable {
        let list: DomainName
        let name: DomainName
    }

    package let lists: [RecordKey]
    private let origin: Origin
    private let read: @Sendable (DomainName) -> Key?
    /// Several names, or several lists, may stand for the same key.
    private var entries: [Key: Set<Entry>] = [:]
    private var facts: [PresenceFact<Key>] = []
    /// What is left out, as a sentence; nil if nothing is.
    package private(set) var omission: String?

    /// - Parameters:
    ///   - names: the names to ask for.
    ///   - origin: where the records come from.
    ///   - read: returns the key for a name; nil to ignore it.
    package init(_ names: [DomainName], at origin: Origin, read: @escaping @Sendable (DomainName) -> Key?) {
        lists = names.map { RecordKey($0, .ptr) }
        self.origin = origin
        self.read = read
    }

    /// Facts since the last call.
    package mutating func takeFacts() -> [PresenceFact<Key>] {
        defer { facts = [] }
        return facts
    }

    /// Wants the lists, and reports what is known.
    package mutating func begin<Source: RecordSource>(_ source: inout Source, at now: Duration) {
        for list in lists {
            source.follow(list.name)
            source.want(list, .list, from: nil, at: now)
            for record in source.records(list) { listed(record.data, in: list) }
        }
    }

    /// Wants nothing any more.
    package mutating func end<Source: RecordSource>(_ source: inout Source) {
        for list in lists {
            source.unfollow(list.name)
            source.drop(list)
        }
    }

    /// A record came or went.
    package mutating func changed<Source: RecordSource>(
        _ key: RecordKey, _ data: RecordData, isAdded: Bool, _ source: inout Source, at now: Duration
    ) {
        guard lists.contains(key) else { return }
        if isAdded { listed(data, in: key) } else { delisted(data, in: key, source) }
        // Omitted keys return when there is room again.
        guard omission != nil, entries.count < Self.most / 8 * 7 else { return }
        omission = nil
        for list in lists { for record in source.records(list) { listed(record.data, in: list) } }
    }

    /// The link is gone; the keys may well still exist.
    package mutating func hide() { facts += entries.keys.map { .hidden($0, origin) } }

    /// Reports again everything that is known: no one answered for a while.
    package mutating func reportAgain() { facts += entries.keys.map { .appeared($0, origin) } }

    private mutating func listed(_ data: RecordData, in list: RecordKey) {
        guard case .ptr(let name) = data, let key = read(name) else { return }
        guard entries[key] != nil || entries.count < Self.most else {
            guard omission == nil else { return }
            let text = "more than \(Self.most) answers to \(list.name): the rest is left out"
            omission = text
            facts.append(.degraded(text))
            return
        }
        if entries[key] == nil { facts.append(.appeared(key, origin)) }
        entries[key, default: []].insert(Entry(list: list.name, name: name))
    }

    private mutating func delisted<Source: RecordSource>(_ data: RecordData, in list: RecordKey, _ source: Source) {
        guard case .ptr(let name) = data, let key = read(name) else { return }
        guard entries[key]?.remove(Entry(list: list.name, name: name)) != nil else { return }
        guard entries[key]?.isEmpty == true else { return }
        entries[key] = nil
        facts.append(source.isHidden ? .hidden(key, origin) : .disappeared(key, origin))
    }
}

extension ListGraph<TypeKey> {
    /// The types of services in a domain (RFC 6763 §9); nil when the name of their list is longer than a name can be.
    package init?(typesIn domain: Domain, at origin: Origin) {
        guard let list = DomainName.types(in: domain) else { return nil }
        self.init([list], at: origin) { name in
            ServiceType(listed: name, in: domain).map { TypeKey(type: $0, domain: domain) }
        }
    }
}
