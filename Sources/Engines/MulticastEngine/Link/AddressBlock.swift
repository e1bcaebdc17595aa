import DNSSD
import Discovery
import DiscoverySystem

/// An address of this machine, and the block that its netmask puts it in.
struct AddressBlock {
    let address: IPAddress
    let block: CIDR

    /// Those of every interface, as they are now.
    static func all() -> [NetworkInterface: [AddressBlock]] {
        var blocks: [NetworkInterface: [AddressBlock]] = [:]
        for item in InterfaceAddress.all() ?? [] {
            guard let address = item.address, let length = item.netmask?.leadingOneBits,
                let block = CIDR(containing: address, prefixLength: length)
            else { continue }
            blocks[item.interface, default: []].append(AddressBlock(address: address, block: block))
        }
        return blocks
    }
}
