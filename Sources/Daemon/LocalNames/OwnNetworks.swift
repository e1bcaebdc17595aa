package import DNSMessage
package import DNSSD
package import Discovery
internal import DiscoverySystem
package import MulticastEngine

/// The networks that this machine's interfaces are in: what lies in none of them is nobody's on a link.
package struct OwnNetworks: Sendable {
    /// How long they are believed; they are read again then.
    package static let life = Duration.seconds(2)

    private let places: [AddressBlock]

    package init(_ places: [AddressBlock]) { self.places = places }

    /// As they are now.
    package static func current() -> OwnNetworks { OwnNetworks(AddressBlock.all()) }

    /// Whether an address is in a network of a link; loopback is none.
    package func isOfLink(_ address: IPAddress) -> Bool { !lengths(of: address).isEmpty }

    /// The prefixes of the links' networks that an address is in, in bits.
    func lengths(of address: IPAddress) -> [Int] {
        guard !address.isLoopback else { return [] }
        let address = address.masked(to: 128)
        return places.filter { !$0.interface.isLoopback && $0.block.contains(address) }.map(\.block.prefixLength)
    }

    /// Who asks over IP; nil for whom no answer is.
    /// - Parameters:
    ///   - own: the address that was asked.
    ///   - interface: by which it came; nil where a connection has proved the source.
    package func asker(_ source: IPAddress, at own: IPAddress, over interface: UInt32?) -> DNSAsker? {
        let source = source.unmapped.masked(to: 128)
        let own = own.masked(to: 128)
        func came(by place: AddressBlock) -> Bool { interface == nil || interface == place.interface.index }
        // A datagram proves no address: this machine's own come by a loopback interface, which those of others with its addresses do
        // not. Over IPv6 its own come as if by another one, and are a neighbour's then.
        if source.isLoopback || places.contains(where: { $0.address == source }),
            places.contains(where: { $0.interface.isLoopback && came(by: $0) })
        {
            return .thisMachine
        }
        guard !source.isLoopback, !own.isLoopback else { return nil }
        let near = places.first { $0.address == own && $0.block.contains(source) && came(by: $0) }
        return near.map { .neighbour(source, $0.interface) }
    }

    /// Of this machine a neighbour is told what it has on the neighbour's link alone, as multicast DNS has it.
    package func told(_ records: [DeskRecord], to asker: DNSAsker) -> [DeskRecord] {
        guard case .neighbour(_, let interface) = asker else { return records }
        return records.filter { item in
            let address =
                IPAddress(item.record.data, scope: 0)
                ?? (item.record.type == .ptr ? CIDR(reverse: item.record.name)?.address : nil)
            let own = places.filter { $0.address == address }
            return own.isEmpty || own.contains { $0.interface == interface }
        }
    }

    /// What this machine is, of what is asked: the addresses of its name, which has nothing else, and the name of its addresses.
    /// - Parameter machine: its name on the links.
    /// - Returns: nil where something else is asked for.
    package func records(for request: RecordRequest, of machine: DomainName?) -> [DeskRecord]? {
        guard let machine else { return nil }
        // The life of addresses (RFC 6762 §10).
        let ttl: UInt32 = 120
        if request.name == machine {
            guard request.types.contains(.a) else { return [] }
            return places.filter { !$0.interface.isLoopback }.map { place in
                let (type, data) = place.address.record
                return DeskRecord(ResourceRecord(machine, type, data, ttl: ttl), on: place.interface)
            }
        }
        guard request.types == [.ptr], let block = CIDR(reverse: request.name) else { return nil }
        let own = places.first {
            !$0.interface.isLoopback && $0.address == block.address && block.prefixLength == block.address.bitWidth
        }
        return own.map { [DeskRecord(ResourceRecord(request.name, .ptr, .ptr(machine), ttl: ttl), on: $0.interface)] }
    }
}

/// What this machine is on its links, as it is now. Used only on the loop's thread.
final class ThisMachine {
    private let label: () -> String?
    private let aliases: () -> Set<HostName>
    private var read: (value: OwnNetworks, time: Duration)?
    private var named: (text: String, name: DomainName?)?
    private var above: (aliases: Set<HostName>, names: AncestorNames)?

    /// - Parameters:
    ///   - label: its name on the links, `h1.local`.
    ///   - aliases: further names of it.
    init(_ label: @escaping () -> String?, _ aliases: @escaping () -> Set<HostName>) {
        (self.label, self.aliases) = (label, aliases)
    }

    /// Whether an alias is below a name, which is somebody's then (RFC 8020): `wiki.local` with `shop.wiki.local`.
    func hasAlias(below name: DomainName) -> Bool {
        let aliases = aliases()
        if let above, above.aliases == aliases { return above.names.contains(name) }
        let names = AncestorNames(of: aliases)
        above = (aliases, names)
        return names.contains(name)
    }

    var name: DomainName? {
        guard let text = label() else { return nil }
        if let named, named.text == text { return named.name }
        let name = try? DomainName(presentation: text)
        named = (text, name)
        return name
    }

    var networks: OwnNetworks {
        let now = BootTime.now
        if let read, now - read.time < OwnNetworks.life { return read.value }
        let value = OwnNetworks.current()
        read = (value, now)
        return value
    }
}

/// The names that others are below.
package struct AncestorNames: Sendable {
    private var names: Set<DomainName> = []

    package init(of hosts: Set<HostName>) {
        for host in hosts {
            guard let labels = (try? DomainName(presentation: host.text))?.labels else { continue }
            // `local` is the zone.
            for count in 2..<max(labels.count, 2) {
                if let name = try? DomainName(labels: labels.suffix(count)) { names.insert(name) }
            }
        }
    }

    package func contains(_ name: DomainName) -> Bool { names.contains(name) }
}
