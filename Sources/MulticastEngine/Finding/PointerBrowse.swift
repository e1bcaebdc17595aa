package import DNSMessage
package import DNSSD
package import Discovery

/// A question for PTR records on one link: service types (RFC 6763 §9) or domains (RFC 6763 §11). A value like
/// `ServiceBrowse`.
package struct PointerBrowse<Key: Hashable & Sendable>: LinkBrowse {
    /// The most keys kept.
    private static var limit: Int { 4096 }

    /// The question that lists everything.
    package let key: RecordKey
    private let origin: Origin
    private let read: @Sendable (DomainName) -> Key?
    /// Several names may stand for the same key.
    private var names: [Key: Set<DomainName>] = [:]
    private var facts: [PresenceFact<Key>] = []
    private var isFull = false

    /// - Parameters:
    ///   - name: the name to ask for.
    ///   - interface: the link.
    ///   - read: returns the key for a name; nil to ignore it.
    package init(_ name: DomainName, on interface: NetworkInterface, read: @escaping @Sendable (DomainName) -> Key?) {
        key = RecordKey(name, .ptr)
        origin = .link(interface)
        self.read = read
    }

    /// Facts since the last call.
    package mutating func takeFacts() -> [PresenceFact<Key>] {
        defer { facts = [] }
        return facts
    }

    /// Starts to ask, and reports what the cache knows.
    package mutating func begin(_ link: inout LinkQuerier, at now: Duration) {
        link.follow(key.name)
        link.ask(key, .shared, at: now)
        for record in link.cache.records(key) { listed(record.data) }
    }

    /// Stops asking.
    package mutating func end(_ link: inout LinkQuerier) {
        link.unfollow(key.name)
        link.stop(key)
    }

    /// The link's cache has changed.
    package mutating func changed(_ changes: [RecordCache.Change], _ link: inout LinkQuerier, at now: Duration) {
        for change in changes {
            guard let (key, data, isAdded) = change.parts(in: link.cache) else { continue }
            guard key == self.key else { continue }
            if isAdded { listed(data) } else { delisted(data) }
        }
        // Omitted keys return when there is room again.
        guard isFull, names.count < Self.limit / 8 * 7 else { return }
        isFull = false
        for record in link.cache.records(key) { listed(record.data) }
    }

    /// The link is gone; the keys may well still exist.
    package mutating func hide() { for key in names.keys { facts.append(.hidden(key, origin)) } }

    private mutating func listed(_ data: RecordData) {
        guard case .ptr(let name) = data, let key = read(name) else { return }
        guard names[key] != nil || names.count < Self.limit else {
            if !isFull {
                facts.append(.degraded("more than \(Self.limit) answers to \(self.key.name): the rest is left out"))
            }
            isFull = true
            return
        }
        if names[key] == nil { facts.append(.appeared(key, origin)) }
        names[key, default: []].insert(name)
    }

    private mutating func delisted(_ data: RecordData) {
        guard case .ptr(let name) = data, let key = read(name), names[key]?.remove(name) != nil else { return }
        guard names[key]?.isEmpty == true else { return }
        names[key] = nil
        facts.append(.disappeared(key, origin))
    }
}
