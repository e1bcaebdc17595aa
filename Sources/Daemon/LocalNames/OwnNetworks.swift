package import DNSMessage
package import DNSSD
package import Discovery
internal import DiscoverySystem
package import MulticastEngine

/// The networks that this machine's interfaces are in: what lies in none of them is nobody's on a link.
package struct OwnNetworks: Sendable {
    /// How long they are believed; they are read again then.
    package static let life = Duration.seconds(2)

    /// An address of this machine, and the network that its netmask puts it in.
    package struct Place: Hashable, Sendable {
        package let interface: NetworkInterface
        package let address: IPAddress
        package let block: CIDR

        package init(_ interface: NetworkInterface, _ address: IPAddress, _ block: CIDR) {
            (self.interface, self.address, self.block) = (interface, address, block)
        }
    }

    private let places: [Place]

    package init(_ places: [Place]) { self.places = places }

    /// As they are now.
    package static func current() -> OwnNetworks {
        OwnNetworks(
            (InterfaceAddress.all() ?? []).compactMap { item in
                guard let address = item.address, let length = item.netmask?.leadingOneBits,
                    let block = CIDR(containing: address, prefixLength: length)
                else { return nil }
                return Place(item.interface, address.masked(to: 128), block)
            })
    }

    /// Whether an address is in a network of a link; loopback is none.
    package func isOfLink(_ address: IPAddress) -> Bool {
        !address.isLoopback
            && places.contains { !$0.interface.isLoopback && $0.block.contains(address.masked(to: 128)) }
    }

    /// What this machine is, of what is asked: the addresses of its name, and the name of its addresses.
    /// - Parameter machine: its name on the links.
    /// - Returns: nil where something else is asked for.
    package func records(for request: NSSRequest, of machine: DomainName?) -> [DeskRecord]? {
        guard let machine else { return nil }
        // The life of addresses (RFC 6762 §10).
        let ttl: UInt32 = 120
        switch request {
        case .host(machine, _):
            return places.filter { !$0.interface.isLoopback }.map { place in
                let (type, data) = place.address.record
                return DeskRecord(ResourceRecord(machine, type, data, ttl: ttl), on: place.interface)
            }
        case .address(let address, let reverse):
            return places.first { !$0.interface.isLoopback && $0.address == address.masked(to: 128) }.map {
                [DeskRecord(ResourceRecord(reverse, .ptr, .ptr(machine), ttl: ttl), on: $0.interface)]
            }
        case .host, .help, .wrong: return nil
        }
    }
}
