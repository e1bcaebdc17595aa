package import DNSMessage
package import DNSSD

/// How a response came.
package struct Arrival: Hashable, Sendable {
    /// To whom it was sent.
    package enum Way: Hashable, Sendable {
        /// To the port that asked, by unicast.
        case answer
        /// To the group, by another host.
        case group
        /// To the group, by this machine.
        case own
    }

    package let sender: IPAddress
    package let interface: NetworkInterface
    package let way: Way
    /// Where a sender is.
    package enum Place: Hashable, Sendable {
        /// It has one of this machine's addresses: another of its interfaces is on the same link, or someone forges it.
        case here
        /// In a network of the interface.
        case link
        case elsewhere
    }

    /// The hop limit that it came with; nil where the system does not say.
    package let hops: UInt8?
    package let place: Place

    package var isOurs: Bool { place == .here }

    package init(
        from sender: IPAddress, on interface: NetworkInterface, _ way: Way, hops: UInt8? = 255, place: Place = .link
    ) {
        (self.sender, self.interface, self.way, self.hops) = (sender, interface, way, hops)
        self.place = way == .own ? .here : place
    }
}

/// A record, as a host has said it.
package struct Heard: Sendable {
    package let record: ResourceRecord
    package let arrival: Arrival
    /// Since the inquiry's start.
    package let time: Duration
}

/// A question to send.
package struct OutgoingQuestion: Sendable {
    /// From where, and to whom.
    package enum Path: Hashable, Sendable {
        /// From a port of its own to the group, on all links.
        case group
        /// From port 5353 to the group, on all links.
        case shared
        /// From a port of its own to the group, on one link over one family.
        case link(NetworkInterface, IPAddress.Family)
        /// From a port of its own to one host's port 5353 (RFC 6762 §5.5).
        case host(IPAddress)
    }

    package let bytes: [UInt8]
    package let path: Path

    /// - Returns: nil when the question does not fit a packet.
    init?(_ question: Question, id: UInt16, _ path: Path) { self.init([question], id: id, path) }

    /// - Returns: nil when there is no question, or they do not fit a packet.
    init?(_ questions: [Question], id: UInt16, _ path: Path) {
        var writer = MessageWriter(id: id, limit: 1400, compression: .multicast)
        guard !questions.isEmpty, questions.allSatisfy({ writer.add($0) }) else { return nil }
        (bytes, self.path) = (writer.bytes, path)
    }
}

/// What is asked of the links, and when it is over. Times count from its start.
package protocol Inquirer: Sendable {
    /// What to send now.
    mutating func questions(at now: Duration) -> [OutgoingQuestion]
    /// A response has come.
    mutating func received(_ message: Message, _ arrival: Arrival, at now: Duration)
    /// When to ask for questions again; nil when there are none to come.
    func deadline(after now: Duration) -> Duration?
    /// No answer is wanted any more.
    func isOver(at now: Duration) -> Bool
}

/// Records with who said them, each once of a sender and a way. A value.
///
/// What is kept is bounded for each name and type by itself, so that many of one kind, as the services of a type, take no room from the
/// records that are judged.
struct HeardRecords: Sendable {
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
        let key: RecordKey
        let sender: IPAddress
    }

    /// Of what there was no room for more.
    private enum Omission {
        case of(Set<RecordKey>)
        case ofAnything
    }

    /// The most that are kept: of all, of a name and type, and of these from one sender.
    private static let (most, mostOfKey, mostOfShare) = (1024, 192, 64)

    /// In the order in which they came.
    private(set) var all: [Heard] = []
    private var known: Set<Known> = []
    private var ofKey: [RecordKey: Int] = [:]
    private var ofShare: [Share: Int] = [:]
    private var omission = Omission.of([])

    /// More was said of it than is kept.
    func isPartial(_ key: RecordKey) -> Bool {
        switch omission {
        case .of(let keys): keys.contains(key)
        case .ofAnything: true
        }
    }

    /// - Returns: whether it is new, and there was room.
    mutating func add(_ heard: Heard) -> Bool {
        let (record, arrival) = (heard.record, heard.arrival)
        let new = Known(
            name: record.name, data: record.data, sender: arrival.sender, interface: arrival.interface,
            way: arrival.way, isGoodbye: record.ttl == 0)
        guard !known.contains(new) else { return false }
        let key = RecordKey(record.name, record.type)
        let share = Share(key: key, sender: arrival.sender)
        guard all.count < Self.most else {
            omission = .ofAnything
            return false
        }
        guard ofKey[key] ?? 0 < Self.mostOfKey, ofShare[share] ?? 0 < Self.mostOfShare else {
            if case .of(let keys) = omission { omission = .of(keys.union([key])) }
            return false
        }
        known.insert(new)
        ofKey[key, default: 0] += 1
        ofShare[share, default: 0] += 1
        all.append(heard)
        return true
    }
}
