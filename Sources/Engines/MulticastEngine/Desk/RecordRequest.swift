package import DNSMessage
package import DNSSD

/// What is asked for at once: a name, and the types of records that answer together.
package struct RecordRequest: Hashable, Sendable {
    package let name: DomainName
    package let types: [RecordType]

    /// - Parameter types: A and AAAA, or PTR of an address.
    package init(_ name: DomainName, _ types: [RecordType]) { (self.name, self.types) = (name, types) }

    /// Both families' addresses of a host: `resolve` asks for them together, too.
    package static func addresses(of name: DomainName) -> RecordRequest { RecordRequest(name, [.a, .aaaa]) }
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
    private static let local = try? DomainName(labels: [Array("local".utf8)])

    /// It lies below `local`, at any depth.
    package var isHostOfLink: Bool { Self.local.map { self != $0 && isWithin($0) } ?? false }
}
