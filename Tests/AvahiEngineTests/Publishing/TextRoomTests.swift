import DNSSD
import Testing

@testable import AvahiEngine

@Suite struct TextRoomTests {
    private let eth0 = (interface: NetworkInterface(index: 2, name: "eth0"), mtu: 1500)
    private let vpn = (interface: NetworkInterface(index: 3, name: "vpn"), mtu: 1280)

    private func record(of size: Int) -> TXTRecord {
        var strings: [[UInt8]] = []
        var rest = size
        while rest > 0 {
            let key = Array("\(strings.count)=".utf8)
            let length = min(rest, 256) - 1
            strings.append(key + [UInt8](repeating: UInt8(ascii: "x"), count: length - key.count))
            rest -= length + 1
        }
        return TXTRecord(strings: strings)
    }

    /// As avahi-daemon 0.8 sent them in the lab, over IPv4 and IPv6: 1404 bytes with a name of 26, 1380 with one of 50, 1184 where the MTU is 1280.
    @Test(arguments: [
        ("nm1340", 1500, 1404), ("nmaaaaaaaaaaaaaaaaaaaaaaaa1340", 1500, 1380), ("nm1340", 1280, 1184),
    ])
    func whatIsSentIsTaken(_ name: String, _ mtu: Int, _ most: Int) throws {
        let instance = try ServiceInstance(name: name, type: "_mtest._tcp")
        #expect(TextRoom.limit(of: instance, mtu: mtu) == most && most > TextRoom.certain)
        let links = [(interface: eth0.interface, mtu: mtu)]
        let (fits, exceeds) = (record(of: most), record(of: most + 1))
        #expect(fits.wireSize == most && exceeds.wireSize == most + 1)
        #expect(TextRoom.refusal(of: fits, instance, on: links) == nil)
        let refusal = TextRoom.refusal(of: exceeds, instance, on: links)
        #expect(refusal?.code == .invalidTXTRecord && refusal?.message.contains("at most \(most) on eth0") == true)
    }

    @Test func theNarrowestLinkDecides() throws {
        let instance = try ServiceInstance(name: "nm1340", type: "_mtest._tcp")
        let txt = record(of: 1300)
        #expect(TextRoom.refusal(of: txt, instance, on: [eth0]) == nil)
        #expect(TextRoom.refusal(of: txt, instance, on: [eth0, vpn])?.message.contains("on vpn") == true)
        #expect(TextRoom.refusal(of: txt, instance, on: []) == nil)
    }
}
