import DNSSD
import Testing

@testable import MulticastEngine

@Suite("Which links are opened, and who uses them")
struct LinkSelectionTests {
    private let lo = NetworkInterface(index: 1, name: "lo")
    private let d1 = NetworkInterface(index: 2, name: "d1")
    private let tun = NetworkInterface(index: 3, name: "tun0")

    private func wish(_ patterns: String..., over families: [IPAddress.Family] = IPAddress.Family.allCases) throws
        -> LinkWish
    {
        LinkWish(interfaces: try InterfaceFilter(patterns), families: Set(families))
    }

    private func selection(
        _ interfaces: [NetworkInterface], _ wishes: [LinkWish], toPeers: Set<NetworkInterface> = []
    ) -> LinkSelection {
        LinkSelection(interfaces.map { (interface: $0, families: IPAddress.Family.allCases) }, wishes, toPeers: toPeers)
    }

    /// Which of these links a wish uses, where all are open.
    private func used(
        _ links: [NetworkInterface], by wish: LinkWish, _ selection: LinkSelection
    ) -> [NetworkInterface] {
        links.filter { selection.wants(wish, LinkKey(interface: $0)) }
    }

    @Test("loopback, which somebody wants by its name, is nothing to others that have another link")
    func loopback() throws {
        let (named, all) = (try wish("lo"), try wish())
        let both = selection([lo, d1], [named, all])
        #expect(Set(both.links.keys) == [lo, d1] && both.links[lo]?.families == [.ipv4])
        #expect(used([lo, d1], by: named, both) == [lo])
        #expect(used([lo, d1], by: all, both) == [d1])
        let alone = selection([lo], [named, all])
        #expect(used([lo, d1], by: all, alone) == [lo])
    }

    @Test("a link to one peer, which somebody wants by its name, is nothing to others, nor is an unwanted family")
    func others() throws {
        let (named, all, old) = (try wish("tun*"), try wish(), try wish(over: [.ipv4]))
        let few = selection([d1, tun], [named, all, old], toPeers: [tun])
        #expect(used([d1, tun], by: named, few) == [tun])
        #expect(used([d1, tun], by: all, few) == [d1])
        #expect(!few.wants(old, LinkKey(interface: d1, families: [.ipv6])))
        // Nobody has said that it is wanted.
        #expect(!selection([d1], [all]).wants(named, LinkKey(interface: d1)))
    }
}
