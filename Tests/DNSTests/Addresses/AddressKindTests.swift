import DNSSD
import Testing

@Suite("Kinds of addresses")
struct AddressKindTests {
    @Test(
        "The first and last address of each block, and their neighbours",
        arguments: [
            ("0.0.0.0", ["unspecified"]), ("0.0.0.1", []), ("126.255.255.255", []), ("127.0.0.0", ["loopback"]),
            ("127.255.255.255", ["loopback"]), ("128.0.0.0", []), ("169.253.255.255", []),
            ("169.254.0.0", ["linkLocal"]),
            ("169.254.169.254", ["linkLocal"]), ("169.254.255.255", ["linkLocal"]), ("169.255.0.0", []),
            ("9.255.255.255", []),
            ("10.0.0.0", ["private"]), ("10.255.255.255", ["private"]), ("11.0.0.0", []), ("172.15.255.255", []),
            ("172.16.0.0", ["private"]), ("172.31.255.255", ["private"]), ("172.32.0.0", []), ("192.167.255.255", []),
            ("192.168.0.0", ["private"]), ("192.168.255.255", ["private"]), ("192.169.0.0", []),
            ("223.255.255.255", []),
            ("224.0.0.0", ["multicast"]), ("239.255.255.255", ["multicast"]), ("240.0.0.0", []),
            ("255.255.255.254", []),
            ("255.255.255.255", ["broadcast"]), ("::", ["unspecified"]), ("::1", ["loopback"]), ("::2", []),
            ("fe7f:ffff::", []), ("fe80::", ["linkLocal"]), ("febf:ffff::", ["linkLocal"]), ("fec0::", []),
            ("fbff::", []),
            ("fc00::", ["private"]), ("fdff:ffff::", ["private"]), ("fe00::", []), ("feff::", []),
            ("ff00::", ["multicast"]),
            ("ffff::", ["multicast"]), ("::fffe:ffff:ffff", []), ("::ffff:0.0.0.0", ["mapped"]),
            ("::ffff:127.0.0.1", ["mapped"]), ("::1:0:0:0", []), ("64:ff9b::", ["nat64"]),
            ("64:ff9b::ffff:ffff", ["nat64"]),
            ("64:ff9b::1:0:0", []), ("64:ff9b:1::", ["nat64"]), ("64:ff9b:1:ffff:ffff:ffff:ffff:ffff", ["nat64"]),
            ("64:ff9b:2::", []), ("2001:db8::1", []),
        ]
    )
    func kinds(text: String, expected: [String]) throws {
        let address = try #require(IPAddress(text))
        let kinds: [(String, Bool)] = [
            ("unspecified", address.isUnspecified), ("loopback", address.isLoopback),
            ("linkLocal", address.isLinkLocal),
            ("private", address.isPrivate), ("multicast", address.isMulticast), ("broadcast", address.isBroadcast),
            ("mapped", address.isIPv4Mapped), ("nat64", address.isNAT64),
        ]
        #expect(kinds.filter(\.1).map(\.0) == expected)
    }

    @Test(
        "The IPv4 address within",
        arguments: [
            ("::ffff:127.0.0.1", "127.0.0.1"), ("64:ff9b::10.0.0.1", "10.0.0.1"), ("::10.0.0.1", "10.0.0.1"),
            ("::1", nil), ("::", nil),
            ("64:ff9b:1::1", nil), ("fe80::1", nil),
        ] as [(String, String?)]
    )
    func embedded(text: String, within: String?) throws {
        #expect(try #require(IPv6Address(text)).embeddedIPv4?.description == within)
    }

    @Test func thisNetwork() {
        #expect(IPv4Address("0.255.255.255")?.isThisNetwork == true && IPv4Address("1.0.0.0")?.isThisNetwork == false)
    }
}
