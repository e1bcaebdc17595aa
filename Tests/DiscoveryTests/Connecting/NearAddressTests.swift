import DNSSD
import Discovery
import Testing

@Suite("Private and link-local addresses are dialled where the service was seen, and nowhere else")
struct NearAddressTests {
    private let docker0 = NetworkInterface(index: 4, name: "docker0")
    private let tun0 = NetworkInterface(index: 5, name: "tun0")

    /// A laptop with Wi-Fi as the way to the internet, a container bridge, and a VPN.
    private func laptop() throws -> (LocalAddresses, RouteTable) {
        let local = LocalAddresses(
            entries: [
                try entry("127.0.0.1", 8, on: lo), try entry("10.77.0.2", 24, on: wlan0),
                try entry("fe80::2%3", 64, on: wlan0), try entry("fd77::2", 64, on: wlan0),
                try entry("172.17.0.1", 16, on: docker0), try entry("10.200.0.2", 32, on: tun0),
            ],
            loopbacks: [lo])
        let routes = try RouteTable(
            ("10.77.0.0/24", .leaves(by: 3, isDirect: true)), ("fd77::/64", .leaves(by: 3, isDirect: true)),
            ("172.17.0.0/16", .leaves(by: 4, isDirect: true)), ("10.78.0.0/16", .leaves(by: 5, isDirect: true)),
            ("fd78::/64", .leaves(by: 5, isDirect: true)), ("10.200.0.2", .own), ("10.77.0.2", .own),
            ("172.17.0.1", .own), ("0.0.0.0/0", .leaves(by: 3, isDirect: false)),
            ("::/0", .leaves(by: 3, isDirect: false)))
        return (local, routes)
    }

    private func refusal(
        _ text: String, on interface: NetworkInterface, _ seen: Bool = false, _ policy: AddressPolicy = AddressPolicy()
    ) throws -> AddressPolicy.Refusal? {
        let (local, routes) = try laptop()
        return policy.refusal(
            of: try endpoint(text, on: interface), isOwn: seen, local: local, routes: routes)
    }

    @Test(
        "addresses that a hostile host of the link announces: only those of the link and behind its router are dialled",
        arguments: [
            ("10.77.0.1", nil), ("fd77::1", nil), ("fe80::1%3", nil), ("10.79.0.5", nil), ("fd79::5", nil),
            ("10.78.0.5", "not reached over wlan0"), ("fd78::5", "not reached over wlan0"),
            ("172.17.0.2", "not reached over wlan0"),
            ("172.17.0.1", "own"), ("10.200.0.2", "own"), ("10.77.0.2", "own"), ("fe80::2%3", "own"),
            ("169.254.1.1", "not on wlan0's link"), ("fe80::1%5", "another interface"), ("fe80::1", "without scope"),
            ("169.254.169.254", "credentials"), ("169.254.169.253", "credentials"), ("169.254.169.123", "credentials"),
            ("169.254.170.2", "credentials"), ("169.254.170.23", "credentials"), ("fd00:ec2::254", "credentials"),
            ("fd00:ec2::23", "credentials"), ("fd20:ce::254", "credentials"), ("fd00:c1::a9fe:a9fe", "credentials"),
            ("fe80::a9fe:a9fe%3", "credentials"), ("169.254.42.42", "credentials"), ("fd00:42::42", "credentials"),
            ("127.0.0.1", "loopback"), ("::1", "loopback"), ("0.0.0.0", "unspecified"), ("::", "unspecified"),
            ("0.0.0.1", "this network"), ("::ffff:10.77.0.1", "IPv4-mapped"), ("::10.77.0.1", "IPv4-compatible"),
            ("64:ff9b::a9fe:a9fe", "credentials"), ("64:ff9b::a4d:1", "NAT64"), ("2002:a4d:1::1", "neither"),
            ("2001:0:a4d:1::1", "neither"), ("fec0::1", "neither"), ("::ffff:0:a4d:1", "neither"),
            ("ff02::fb", "multicast"), ("224.0.0.251", "multicast"), ("255.255.255.255", "broadcast"),
            ("10.77.0.255", "broadcast"), ("100.64.0.1", "neither"), ("100.100.100.200", "credentials"),
            ("168.63.129.16", "credentials"), ("8.8.8.8", "neither"),
        ] as [(String, String?)])
    func hostile(_ text: String, _ reason: String?) throws {
        let found = try refusal(text, on: wlan0)
        if let reason {
            #expect(try #require(found, "\(text)").description.contains(reason), "\(text): \(found?.description ?? "")")
        } else {
            #expect(found == nil, "\(text): \(found?.description ?? "")")
        }
    }

    @Test(
        "where a cloud hands out credentials is never dialled, allowed or not, on-link or not, behind a translator or not",
        arguments: [
            "169.254.169.0", "169.254.169.254", "169.254.169.255", "169.254.170.2", "169.254.170.23", "169.254.42.42",
            "fd00:ec2::23", "fd00:ec2:1::1", "fd20:ce::254", "fd00:c1::a9fe:a9fe", "fe80::a9fe:a9fe%3", "fd00:42::42",
            "64:ff9b::a9fe:aa02", "64:ff9b:1:a9fe:a9:fe00::", "64:ff9b:1:a9:fe:a9fe::", "64:ff9b:1:0:a9:fea9:fe00:0",
            "64:ff9b:1::a9fe:a9fe", "100.100.100.200", "168.63.129.16", "64:ff9b::6464:64c8",
        ])
    func never(_ text: String) throws {
        let policy = AddressPolicy(allow: [try CIDR("0.0.0.0/0"), try CIDR("::/0")])
        let local = LocalAddresses(
            entries: [
                try entry("169.254.7.7", 16, on: wlan0), try entry("fd00::1", 8, on: wlan0), try entry("fe80::2%3", 64),
            ])
        for seen in [false, true] {
            let refusal = policy.refusal(
                of: try endpoint(text, on: wlan0), isOwn: seen, local: local, routes: NoRoutes())
            #expect(refusal?.canBeAllowed == false, "\(text)")
        }
    }

    @Test("a service in a container, or in the VPN, is dialled when it was seen there")
    func seenThere() throws {
        #expect(try refusal("172.17.0.2", on: docker0) == nil)
        #expect(try refusal("10.78.0.5", on: tun0) == nil)
        #expect(try refusal("10.77.0.1", on: docker0)?.canBeAllowed == true)
        #expect(try refusal("10.78.0.5", on: wlan0, false, AddressPolicy(allow: [try CIDR("10.78.0.0/16")])) == nil)
    }

    @Test("a service of this machine is exempt: at its own addresses, and where its own programs announce another host")
    func ofThisMachine() throws {
        #expect(try refusal("172.17.0.1", on: wlan0, true) == nil)
        #expect(try refusal("10.200.0.2", on: lo, true) == nil)
        #expect(try refusal("172.17.0.2", on: lo, true) == nil)
        #expect(try refusal("8.8.8.8", on: lo, true) != nil)
    }

    @Test("169.254.0.0/16 is dialled where it is a network of the interface, by address or by a route without a router")
    func linkLocalIPv4() throws {
        let none = LocalAddresses(entries: [try entry("10.77.0.2", 24)])
        let own = LocalAddresses(entries: [try entry("169.254.7.7", 16)])
        func refusal(_ local: LocalAddresses, _ routes: some RouteLookup) throws -> AddressPolicy.Refusal? {
            AddressPolicy().refusal(
                of: try endpoint("169.254.1.1"), isOwn: false, local: local, routes: routes)
        }
        #expect(try refusal(own, NoRoutes()) == nil)
        #expect(try refusal(none, NoRoutes()) != nil)
        #expect(try refusal(none, RouteTable(("169.254.0.0/16", .leaves(by: 2, isDirect: true)))) == nil)
        #expect(try refusal(none, RouteTable(("169.254.0.0/16", .leaves(by: 3, isDirect: true)))) != nil)
        #expect(try refusal(none, RouteTable(("0.0.0.0/0", .leaves(by: 2, isDirect: false)))) != nil)
    }

    @Test(
        "two interfaces on one network: whichever the kernel takes, both are right; a network within a network is not")
    func oneNetworkTwice() throws {
        let local = LocalAddresses(
            entries: [
                try entry("10.77.0.2", 24), try entry("10.77.0.3", 24, on: wlan0),
                try entry("10.77.0.200", 28, on: tun0),
                try entry("fe80::2%2", 64), try entry("fe80::3%3", 64, on: wlan0),
            ])
        let routes = try RouteTable(
            ("10.77.0.0/24", .leaves(by: 2, isDirect: true)), ("10.77.0.192/28", .leaves(by: 5, isDirect: true)))
        func refusal(_ text: String, _ interface: NetworkInterface) throws -> String? {
            AddressPolicy().refusal(
                of: try endpoint(text, on: interface), isOwn: false, local: local, routes: routes)?.description
        }
        #expect(try refusal("10.77.0.1", eth0) == nil)
        #expect(try refusal("10.77.0.1", wlan0) == nil)
        #expect(try refusal("10.77.0.201", tun0) == nil)
        #expect(try refusal("10.77.0.201", eth0) == "reached over tun0, though the service was seen on eth0")
        #expect(try refusal("10.77.0.201", wlan0) != nil)
    }

    @Test(
        "an address that the kernel claims is this machine's own, whatever its interface (ip route add local)"
    )
    func keptByTheKernel() throws {
        let local = LocalAddresses(entries: [try entry("10.77.0.2", 24)])
        let refusal = AddressPolicy().refusal(
            of: try endpoint("10.77.0.9"), isOwn: false, local: local,
            routes: try RouteTable(("10.77.0.9", .own)))
        #expect(refusal?.description.contains("own") == true)
    }
}
