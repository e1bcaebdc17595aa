package import DNSSD
package import Discovery
internal import DiscoverySystem

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
}
