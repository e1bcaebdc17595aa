package import DNSMessage
package import Discovery

/// Where the records of a query come from: a link, DNS servers, or avahi-daemon.
///
/// A graph says which records it wants, and reads what is known of them. The owner of both tells the graph what has changed.
package protocol RecordSource {
    /// Has the graph's owner told of changes that concern a name: a list, a type or a host.
    mutating func follow(_ name: DomainName)
    /// Ends one `follow`.
    mutating func unfollow(_ name: DomainName)
    /// Wants the records of a key kept up to date. What is there already can be read at once.
    /// - Parameter sender: who said that there are such records, as `KnownRecord.sender`; nil if no one did.
    mutating func want(_ key: RecordKey, _ urgency: Urgency, from sender: UInt16?, at now: Duration)
    /// Ends one `want`.
    mutating func drop(_ key: RecordKey)

    /// Returns the records of a key.
    func records(_ key: RecordKey) -> [KnownRecord]
    /// Returns one record.
    func record(_ key: RecordKey, _ data: RecordData) -> KnownRecord?
    /// Returns the data of at most `limit` wanted records of a key; there may be thousands.
    func data(_ key: RecordKey, atMost limit: Int, where isWanted: (RecordData) -> Bool) -> [RecordData]
    /// Returns the names of at most `limit` lists of subtypes of a type, `_printer._sub._http._tcp.local`, that are known by themselves: no one asked.
    func subtypeLists(of type: DomainName, atMost limit: Int) -> [DomainName]
    /// Returns what is known of a key that has no records.
    func standing(_ key: RecordKey) -> Standing
    /// Returns whether an address record is of a network of this machine; such ones take precedence.
    func isNear(_ data: RecordData) -> Bool
    /// Returns whether a service that ended is not expected back soon.
    func isWithdrawn(_ service: DomainName, from hosts: [DomainName], at now: Duration) -> Bool
    /// Whether its link is down, so that what goes now may well still exist.
    var isHidden: Bool { get }
    /// Returns whether this machine publishes a service; nil while that is asked for.
    /// - Parameter list: the key that lists the service; nil if it was asked for by name.
    mutating func isOwn(
        _ service: DomainName, _ records: ServiceRecords, in list: RecordKey?, at now: Duration
    ) -> Bool?
    /// Adds what only the source knows.
    func complete(_ resolution: inout Resolution, from records: ServiceRecords)
}

extension RecordSource {
    /// False: the owner of a graph hides it when its link is down.
    package var isHidden: Bool { false }

    /// Returns none: nothing comes that was not asked for.
    package func subtypeLists(of type: DomainName, atMost limit: Int) -> [DomainName] { [] }
}

extension DomainName {
    /// The type of which this name lists a subtype (RFC 6763 §7.1); nil if it does not.
    package var listedType: DomainName? {
        guard wire.count > 6, let first = wire.first, first > 0 else { return nil }
        let rest = wire.dropFirst(1 + Int(first))
        guard rest.count > 5, rest.prefix(5).elementsEqual(Self.sub, by: { $0 == $1 || $0 | 0x20 == $1 }) else {
            return nil
        }
        return parent?.parent
    }

    private static let sub: [UInt8] = [4, 0x5F, 0x73, 0x75, 0x62]
}

/// How soon a record is wanted.
package enum Urgency: Hashable, Sendable {
    /// The key lists services, types or domains.
    case list
    /// It belongs to an answer, and may come by itself within this time.
    case listed(after: Duration)
    /// The same, for someone who waits for one name.
    case awaited(after: Duration)
}

/// What is known of a key that has no records.
package enum Standing: Hashable, Sendable {
    /// No one has answered yet.
    case unknown
    /// There are none, says who has the name.
    case denied
    /// The question failed; it is asked again.
    case failed
}

/// A record as a source shows it.
package struct KnownRecord: Sendable {
    package let data: RecordData
    /// Who sent it first, as `Resolution.sender`.
    package let sender: UInt16
    /// Whether this machine sent it.
    package let isOwn: Bool
    /// Whether it ends soon unless it is heard again.
    package let isEnding: Bool
    /// When it was last received.
    package let received: Duration
    /// When it was first received.
    package let firstReceived: Duration

    package init(
        _ data: RecordData, sender: UInt16 = 0, isOwn: Bool = false, isEnding: Bool = false,
        received: Duration = .zero, firstReceived: Duration = .zero
    ) {
        (self.data, self.sender, self.isOwn, self.isEnding) = (data, sender, isOwn, isEnding)
        (self.received, self.firstReceived) = (received, firstReceived)
    }
}
