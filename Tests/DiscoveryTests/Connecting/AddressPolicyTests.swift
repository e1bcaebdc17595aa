import DNSSD
import Discovery
import Testing

@Suite("Which addresses are dialled (RFC 6762 §21)")
struct AddressPolicyTests {
    @Test(
        "refused by default",
        arguments: [
            ("0.0.0.0", "unspecified"), ("::", "unspecified"), ("0.1.2.3", "this network"),
            ("224.0.0.1", "multicast"), ("239.255.255.250", "multicast"), ("ff02::fb", "multicast"),
            ("255.255.255.255", "broadcast"), ("10.77.0.255", "broadcast"), ("10.77.0.0", "broadcast"),
            ("127.0.0.1", "loopback"), ("127.9.9.9", "loopback"), ("::1", "loopback"),
            ("::ffff:127.0.0.1", "IPv4-mapped"), ("::ffff:10.77.0.1", "IPv4-mapped"),
            ("::10.77.0.1", "IPv4-compatible"), ("64:ff9b::7f00:1", "NAT64"), ("64:ff9b:1::1", "NAT64"),
            ("fe80::1", "without scope"), ("fe80::1%3", "another interface"),
            ("169.254.1.1", "not on eth0's link"), ("10.1.2.3", "not reached over eth0"),
            ("fd12::1", "not reached over eth0"),
            ("172.16.0.1", "not reached over eth0"), ("192.168.1.1", "not reached over eth0"),
            ("10.77.0.2", "own"), ("2001:db8:1::2", "own"), ("fe80::2%2", "own"),
            ("8.8.8.8", "neither"), ("2001:db8:2::1", "neither"), ("198.51.100.8", "neither"),
            ("100.64.0.1", "neither"), ("172.32.0.1", "neither"), ("fec0::1", "neither"), ("2002:a4d:1::", "neither"),
        ])
    func refused(_ text: String, _ reason: String) throws {
        let refusal = AddressPolicy().refusal(
            of: try endpoint(text), isOwn: false, local: try machine(), routes: NoRoutes())
        #expect(try #require(refusal, "\(text)").description.contains(reason))
    }

    @Test(
        "dialled by default",
        arguments: [
            "10.77.0.1", "fe80::1%2", "2001:db8:1::1", "198.51.100.1",
        ])
    func permitted(_ text: String) throws {
        #expect(
            AddressPolicy().refusal(
                of: try endpoint(text), isOwn: false, local: try machine(), routes: NoRoutes()) == nil)
    }

    @Test("a service of this machine may be dialled at its own addresses, and at loopback where it was seen there")
    func ownService() throws {
        let policy = AddressPolicy()
        func refusal(_ text: String, _ interface: NetworkInterface, _ seen: Bool) throws -> AddressPolicy.Refusal? {
            policy.refusal(
                of: try endpoint(text, on: interface), isOwn: seen, local: try machine(), routes: NoRoutes())
        }
        #expect(try refusal("127.0.0.1", lo, true) == nil)
        #expect(try refusal("::1", lo, true) == nil)
        #expect(try refusal("10.77.0.2", eth0, true) == nil)
        #expect(try refusal("127.0.0.1", eth0, true) != nil, "another host may say so on eth0")
        #expect(try refusal("127.0.0.1", lo, false) != nil)
    }

    @Test("on-link is judged by the interface on which the address was learned")
    func onLinkOfTheInterface() throws {
        let refusal = AddressPolicy().refusal(
            of: try endpoint("2001:db8:1::1", on: wlan0), isOwn: false, local: try machine(),
            routes: NoRoutes())
        #expect(refusal?.description.contains("wlan0") == true)
    }

    @Test("a network that a router advertises is on-link, with an address of /128 too (RFC 4861 §4.6.2)")
    func advertisedNetwork() throws {
        let prefix = try CIDR("2001:db8:9::/64")
        let local = LocalAddresses(
            entries: [try entry("2001:db8:9::2", 128)],
            links: [LocalAddresses.Link(interface: eth0, prefix: prefix)]
        )
        func refusal(_ text: String, on interface: NetworkInterface = eth0) throws -> AddressPolicy.Refusal? {
            AddressPolicy().refusal(
                of: try endpoint(text, on: interface), isOwn: false, local: local, routes: NoRoutes())
        }
        #expect(try refusal("2001:db8:9::1") == nil)
        #expect(try refusal("2001:db8:9::1", on: wlan0) != nil)
        #expect(try refusal("2001:db8:9::2")?.description.contains("own") == true)
    }

    @Test("an address with a prefix of no bits does not make everything on-link")
    func emptyPrefix() throws {
        let local = LocalAddresses(entries: [try entry("192.0.2.1", 0)])
        #expect(
            AddressPolicy().refusal(
                of: try endpoint("8.8.8.8"), isOwn: false, local: local, routes: NoRoutes()) != nil)
    }

    @Test("/31 and /32 have no broadcast address (RFC 3021)", arguments: [31, 32])
    func pointToPoint(_ length: Int) throws {
        let local = LocalAddresses(entries: [try entry("10.9.9.8", length)])
        let refusal = AddressPolicy().refusal(
            of: try endpoint("10.9.9.9"), isOwn: false, local: local,
            routes: try RouteTable(("10.9.9.8/31", .leaves(by: 2, isDirect: true))))
        #expect(refusal == nil)
    }

    @Test("allow permits what a rule refuses, but nothing that is not a destination")
    func allow() throws {
        let policy = AddressPolicy(allow: [try CIDR("0.0.0.0/0"), try CIDR("::/0")])
        let local = try machine()
        for text in [
            "8.8.8.8", "127.0.0.1", "169.254.1.1", "10.1.2.3", "10.77.0.2", "64:ff9b::808:808", "2001:db8:2::1",
        ] {
            #expect(
                policy.refusal(of: try endpoint(text), isOwn: false, local: local, routes: NoRoutes()) == nil,
                "\(text)")
        }
        for text in ["0.0.0.0", "::", "224.0.0.1", "255.255.255.255", "::ffff:8.8.8.8", "fe80::1", "10.77.0.255"] {
            let refusal = policy.refusal(
                of: try endpoint(text), isOwn: false, local: local, routes: NoRoutes())
            #expect(refusal?.canBeAllowed == false, "\(text)")
        }
    }

    @Test("deny refuses what a rule or allow permits, and names the block")
    func deny() throws {
        let policy = AddressPolicy(allow: [try CIDR("10.77.0.0/24")], deny: [try CIDR("10.77.0.1")])
        let local = try machine()
        let refusal = policy.refusal(
            of: try endpoint("10.77.0.1"), isOwn: false, local: local, routes: NoRoutes())
        #expect(refusal?.description == "denied by 10.77.0.1/32")
        #expect(
            policy.refusal(of: try endpoint("10.77.0.3"), isOwn: false, local: local, routes: NoRoutes())
                == nil)
    }

    @Test("deny sees the IPv4 address that a translator would send to (RFC 6052 §2.1)")
    func denyBehindNAT64() throws {
        let policy = AddressPolicy(allow: [try CIDR("64:ff9b::/96")], deny: [try CIDR("10.0.0.0/8")])
        let local = try machine()
        #expect(
            policy.refusal(of: try endpoint("64:ff9b::a4d:1"), isOwn: false, local: local, routes: NoRoutes())
                != nil)
        #expect(
            policy.refusal(
                of: try endpoint("64:ff9b::808:808"), isOwn: false, local: local, routes: NoRoutes()) == nil)
    }

    @Test("without anything known of this machine only link-local addresses of the interface are dialled")
    func nothingKnown() throws {
        let local = LocalAddresses(entries: [])
        for (text, permitted) in [("10.0.0.1", false), ("fe80::1%2", true), ("8.8.8.8", false), ("127.0.0.1", false)] {
            let refusal = AddressPolicy().refusal(
                of: try endpoint(text), isOwn: true, local: local, routes: NoRoutes())
            #expect((refusal == nil) == permitted, "\(text)")
        }
    }

    @Test("a reason is safe for a terminal")
    func reasonIsEscaped() throws {
        let interface = NetworkInterface(index: 9, name: "e\u{1B}[31m")
        let refusal = AddressPolicy().refusal(
            of: try endpoint("8.8.8.8", on: interface), isOwn: false, local: try machine(), routes: NoRoutes())
        #expect(try #require(refusal).description.contains("\u{1B}") == false)
    }
}

/// Addresses from a DNS server are on no link.
@Suite struct UnicastAddressPolicyTests {
    private func refusal(_ text: String, in domain: String, named: [String], allow: [String] = []) throws -> String? {
        let policy = AddressPolicy(
            allow: try allow.map { try CIDR($0) }, namedDomains: Set(try named.map { try Domain($0) }))
        let endpoint = Endpoint(address: try parsed(text), port: try Port(9000), interface: nil)
        return policy.refusal(
            of: endpoint, in: try Domain(domain), isOwn: false, local: LocalAddresses(entries: []),
            routes: NoRoutes())?.description
    }

    @Test("this machine's own address is dialled for a service of its own alone; so is what the routes say is its own")
    func ownAddress() throws {
        let local = LocalAddresses(
            entries: [
                .init(
                    interface: NetworkInterface(index: 2, name: "eth0"), address: try parsed("10.9.7.1"),
                    prefixLength: 24)
            ])
        let routes = try RouteTable(("10.9.8.1/32", .own))
        let policy = AddressPolicy(namedDomains: [try Domain("example.org")])
        func refusal(_ text: String, isOwn: Bool) throws -> AddressPolicy.Refusal? {
            policy.refusal(
                of: Endpoint(address: try parsed(text), port: try Port(9000), interface: nil),
                in: try Domain("example.org"), isOwn: isOwn, local: local, routes: routes)
        }
        for text in ["10.9.7.1", "10.9.8.1", "2002:a09:701::1"] {
            let found = try #require(try refusal(text, isOwn: false), "\(text)")
            #expect(found.description.contains("own address") && found.canBeAllowed, "\(text)")
            #expect(try refusal(text, isOwn: true) == nil, "\(text)")
        }
        #expect(try refusal("10.9.7.2", isOwn: false) == nil)
    }

    @Test(
        "an IPv4 address that a translator or a tunnel would send to is judged, whatever is allowed",
        arguments: [
            "2002:7f00:1::1", "2002:a9fe:a9fe::1", "2002:a9fe:101::1", "2002:0:1::1", "2002:e000:1::1",
            "2001:0:7f00:1::1", "2001:0:a09:701:0:0:80ff:fffe", "64:ff9b::7f00:1", "64:ff9b::e000:1", "64:ff9b::1",
            "64:ff9b:1:7f00:0:100::", "64:ff9b:1::7f00:1", "2001:db8::5efe:7f00:1", "2001:db8::200:5efe:a9fe:a9fe",
            "::ffff:0:7f00:1",
        ])
    func embedded(_ text: String) throws {
        #expect(try refusal(text, in: "example.org", named: ["example.org"]) != nil)
        #expect(try refusal(text, in: "example.org", named: ["example.org"], allow: ["0.0.0.0/0", "::/0"]) != nil)
    }

    @Test(
        "an address of these kinds with an ordinary one in it is dialled where it may be",
        arguments: [
            "2002:808:808::1", "2001:db8::5efe:808:808",
        ])
    func embeddedAndPermitted(_ text: String) throws {
        #expect(try refusal(text, in: "example.org", named: ["example.org"]) == nil)
    }

    @Test(
        "site-local and NAT64 addresses need to be allowed",
        arguments: ["fec0::1", "feff::1", "64:ff9b::808:808", "64:ff9b:1::808:808"])
    func allowedOnly(_ text: String) throws {
        #expect(try refusal(text, in: "example.org", named: ["example.org"]) != nil)
        #expect(try refusal(text, in: "example.org", named: ["example.org"], allow: ["::/0"]) == nil)
    }

    private struct NoRoutes: RouteLookup {
        func route(to address: IPAddress) -> Route? { nil }
    }

    @Test(arguments: ["10.1.2.3", "203.0.113.9", "fd00::1", "2001:db8::1"])
    func ofANamedDomainPrivateAndGlobalAddressesAreDialled(_ text: String) throws {
        #expect(try refusal(text, in: "example.org", named: ["example.org"]) == nil)
        #expect(try refusal(text, in: "lab.Example.org", named: ["example.org"]) == nil)
        #expect(try refusal(text, in: "example.org", named: []) != nil)
        #expect(try refusal(text, in: "badexample.org", named: ["example.org"]) != nil)
        #expect(try refusal(text, in: "example.org", named: ["lab.example.org"]) != nil)
    }

    @Test(arguments: [
        "127.0.0.1", "::1", "169.254.1.1", "fe80::1%2", "169.254.169.254", "fd00:ec2::254", "224.0.0.1", "0.0.0.0",
    ])
    func loopbackLinkLocalAndCredentialsNever(_ text: String) throws {
        #expect(try refusal(text, in: "example.org", named: ["example.org"]) != nil)
        #expect(try refusal(text, in: "example.org", named: ["example.org"], allow: ["0.0.0.0/0", "::/0"]) != nil)
    }
}

@Suite struct DomainNestingTests {
    @Test(arguments: [
        ("lab.example.org", true), ("EXAMPLE.org", true), ("org", true), ("ab.example.org", false),
        ("x.lab.example.org", false), ("local", false),
    ])
    func aDomainIsWithinItselfAndThoseAbove(_ other: String, _ isWithin: Bool) throws {
        #expect(try Domain("lab.example.org").isWithin(try Domain(other)) == isWithin)
    }
}
