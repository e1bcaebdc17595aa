package import DNSMessage
package import DNSSD

/// What is known of a run of the subject: its names and addresses, by what it has said.
package struct Run {
    /// When it was started, or first spoke.
    package let began: Double
    /// Until now.
    package let log: [Packet]
    /// The names of services by their ports.
    package let instances: [UInt16: DomainName]
    package let host: DomainName
    package let addresses: [IPAddress]

    init(_ bench: Bench, began: Double) {
        (self.began, log) = (began, bench.log)
        var (instances, targets): ([UInt16: DomainName], [DomainName]) = ([:], [])
        let records = bench.said().filter(\.isResponse).flatMap(\.records)
        for record in records where record.ttl > 0 {
            if let port = record.port, let target = record.target {
                instances[port] = record.name
                targets.append(target)
            }
        }
        self.instances = instances
        let host = targets.last ?? .root
        self.host = host
        var addresses: [IPAddress] = []
        for record in records where record.name == host {
            if let address = IPAddress(record.data), !addresses.contains(address) { addresses.append(address) }
        }
        self.addresses = addresses
    }

    /// The service of a run with one.
    package var instance: DomainName { instances[9000] ?? .root }
    package var said: [Packet] { log.filter { !$0.isOurs } }
    package func probes(for name: DomainName, over family: IPAddress.Family = .ipv4) -> [Packet] {
        said.filter { $0.family == family && $0.probes(for: name) }
    }
    /// Responses to the group that have the service's SRV record.
    package func announcements(over family: IPAddress.Family = .ipv4) -> [Packet] {
        said.filter { packet in
            packet.family == family && packet.isResponse && packet.isToGroup
                && packet.records.contains { $0.name == instance && $0.type == .srv && $0.ttl > 0 }
        }
    }
    package func address(_ family: IPAddress.Family) -> IPAddress? { addresses.first { $0.family == family } }

    // What everybody may ask.
    package var list: Question { Question(Names.type, .ptr) }
    package var pointer: ResourceRecord { ResourceRecord(Names.type, .ptr, .ptr(instance), ttl: 4500) }
    /// The subject's record of a name and type, as it was told last.
    package func record(_ name: DomainName, _ type: RecordType) -> ResourceRecord? {
        said.reversed().lazy.filter(\.isResponse).flatMap(\.records).first {
            $0.name == name && $0.type == type && $0.ttl > 0
        }
    }
}

enum Names {
    static let type = name("_conf._tcp.local")
    static let types = name("_services._dns-sd._udp.local")
    static let other = name("somebody-else.local")

    static func name(_ text: String) -> DomainName { (try? DomainName(presentation: text)) ?? .root }

    /// A name of the same type with another first label.
    static func instance(_ label: String, of type: DomainName = type) -> DomainName {
        (try? DomainName(labels: [Array(label.utf8)] + type.labels.map(Array.init))) ?? .root
    }
}

extension IPAddress {
    /// The address of a record of type A or AAAA, without a scope.
    init?(_ data: RecordData) {
        switch data {
        case .a(let bits): self = .v4(IPv4Address(bits: bits))
        case .aaaa(let high, let low): self = .v6(IPv6Address(high: high, low: low), scope: 0)
        default: return nil
        }
    }
}
