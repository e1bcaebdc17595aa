package import DNSMessage
package import DNSSD

/// What is asked for at once: a name, and the types of records that answer together.
package struct RecordRequest: Hashable, Sendable {
    /// Who has such records.
    package enum Holders: Hashable, Sendable {
        /// One host, which answers for all (RFC 6762 §10.2).
        case one
        /// Many: the first answer is not all.
        case many
    }

    package let name: DomainName
    package let types: [RecordType]
    let holders: Holders

    /// - Parameter types: A and AAAA, SRV and TXT, or PTR of an address.
    package init(_ name: DomainName, _ types: [RecordType]) { self.init(name, types, of: .one) }

    private init(_ name: DomainName, _ types: [RecordType], of holders: Holders) {
        (self.name, self.types, self.holders) = (name, types, holders)
    }

    /// Both families' addresses of a host: `resolve` asks for them together, too.
    package static func addresses(of name: DomainName) -> RecordRequest { RecordRequest(name, [.a, .aaaa]) }

    /// What a name lists, as a type its services (RFC 6763 §4).
    package static func list(of name: DomainName) -> RecordRequest { RecordRequest(name, [.ptr], of: .many) }
}

/// On whose account questions are asked.
package enum DeskAsker: Hashable, Sendable {
    /// A user of this machine.
    case user(UInt32)
    /// This machine over IP, which does not say whose program asks.
    case machine
    /// Another machine: an address, or the 64 bits of an IPv6 one that a host chooses within. It may be forged.
    case neighbour(IPAddress)

    fileprivate static let unknown = neighbour(.v4(IPv4Address(bits: 0)))

    /// In whose budget, too, its questions are: all neighbours are one there.
    var group: DeskAsker { if case .neighbour = self { .unknown } else { self } }
}

/// A record of a link, with the seconds that are left of its life.
package struct DeskRecord: Hashable, Sendable {
    package let record: ResourceRecord
    package let interface: NetworkInterface
    /// An address in a network of this machine.
    package let isNear: Bool

    package init(_ record: ResourceRecord, on interface: NetworkInterface, isNear: Bool = true) {
        (self.record, self.interface, self.isNear) = (record, interface, isNear)
    }
}

/// What became of a request.
package enum DeskAnswer: Sendable {
    /// The records, with those of the names that it is an alias of; empty where nobody has any.
    case records([DeskRecord])
    /// The asker has had more questions asked than one may, or too many wait.
    case refused
}

extension DomainName {
    /// It lies below `local`, at any depth.
    package var isHostOfLink: Bool { isOfLink && self != Self.ofLinks }
}
