import DNSMessage
import DNSSD

/// Records with who said them, each once of a sender and a way. A value.
///
/// What is kept is bounded for each name and type by itself, so that many of one kind, as the services of a type, take no room from the
/// records that are judged.
struct HeardRecords: Sendable {
    /// A name and a type.
    struct Kind: Hashable {
        let name: DomainName
        let type: RecordType
    }

    /// What makes two records the same.
    private struct Known: Hashable {
        let name: DomainName
        let data: RecordData
        let sender: IPAddress
        let interface: NetworkInterface
        let way: Arrival.Way
        let isGoodbye: Bool
    }

    private struct Share: Hashable {
        let kind: Kind
        let sender: IPAddress
    }

    /// The most that are kept: of all, of a kind, and of a sender and a kind.
    private static let (most, mostOfKind, mostOfShare) = (1024, 192, 64)

    /// In the order in which they came.
    private(set) var all: [Heard] = []
    /// No more is kept, of anything.
    private(set) var isFull = false
    private var known: Set<Known> = []
    private var ofKind: [Kind: Int] = [:]
    private var ofShare: [Share: Int] = [:]
    private var partial: Set<Kind> = []

    /// More was said of it than is kept.
    func isPartial(_ kind: Kind) -> Bool { isFull || partial.contains(kind) }

    /// - Returns: whether it is new, and there was room.
    mutating func add(_ heard: Heard) -> Bool {
        let (record, arrival) = (heard.record, heard.arrival)
        let key = Known(
            name: record.name, data: record.data, sender: arrival.sender, interface: arrival.interface,
            way: arrival.way, isGoodbye: record.ttl == 0)
        guard !known.contains(key) else { return false }
        let kind = Kind(name: record.name, type: record.type)
        let share = Share(kind: kind, sender: arrival.sender)
        guard all.count < Self.most else {
            isFull = true
            return false
        }
        guard ofKind[kind] ?? 0 < Self.mostOfKind, ofShare[share] ?? 0 < Self.mostOfShare else {
            partial.insert(kind)
            return false
        }
        known.insert(key)
        ofKind[kind, default: 0] += 1
        ofShare[share, default: 0] += 1
        all.append(heard)
        return true
    }
}
