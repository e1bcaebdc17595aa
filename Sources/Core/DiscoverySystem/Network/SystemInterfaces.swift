import CLinux
package import DNSSD
import Libc

/// The interfaces of this machine that mDNS can use: up, with an address, and multicast or loopback.
package enum SystemInterfaces {
    package static func usable(
        by filter: InterfaceFilter
    ) -> [(interface: NetworkInterface, families: [IPAddress.Family])] {
        var families: [NetworkInterface: Set<IPAddress.Family>] = [:]
        for item in InterfaceAddress.all() ?? [] {
            guard item.has(IFF_UP), item.has(IFF_MULTICAST | IFF_LOOPBACK), let address = item.address,
                filter.allows(item.interface.name)
            else { continue }
            families[item.interface, default: []].insert(address.family)
        }
        return families.sorted { $0.key < $1.key }.map { ($0.key, $0.value.sorted { $0.rawValue < $1.rawValue }) }
    }

    /// The usable links with their MTU in bytes, without loopback and links to one peer, on which avahi-daemon does not publish unless told to.
    package static func sizes(of filter: InterfaceFilter) -> [(interface: NetworkInterface, mtu: Int)] {
        let links = (InterfaceAddress.all() ?? []).filter {
            $0.has(IFF_UP) && $0.has(IFF_MULTICAST) && !$0.has(IFF_LOOPBACK | IFF_POINTOPOINT) && $0.address != nil
                && filter.allows($0.interface.name)
        }
        return Set(links.map(\.interface)).sorted().map { ($0, Int(unsafe clinux_mtu($0.name))) }.filter { $0.mtu > 0 }
    }

    /// Whether an interface can receive packets of a family: it is up, with a carrier and an address.
    package static func isReceiving(_ interface: NetworkInterface, over family: IPAddress.Family) -> Bool {
        // If the system does not tell, it counts as usable.
        guard let all = InterfaceAddress.all() else { return true }
        return all.contains {
            $0.has(IFF_UP) && $0.has(IFF_RUNNING) && $0.address?.family == family
                && $0.interface.index == interface.index
        }
    }

    /// The interfaces that are up and have a carrier, as far as the system tells.
    package static func running() -> Set<NetworkInterface> {
        Set((InterfaceAddress.all() ?? []).filter { $0.has(IFF_UP) && $0.has(IFF_RUNNING) }.map(\.interface))
    }

    /// The names of all interfaces, whatever their state.
    package static func names() -> [String] { Array(namesByIndex().values) }

    /// All names by interface index.
    package static func namesByIndex() -> [Int32: String] {
        guard let list = unsafe if_nameindex() else { return [:] }
        defer { unsafe if_freenameindex(list) }
        var names: [Int32: String] = [:]
        var next = unsafe list
        while let name = unsafe next.pointee.if_name {
            unsafe names[Int32(bitPattern: next.pointee.if_index)] = String(cString: name)
            unsafe next += 1
        }
        return names
    }
}
