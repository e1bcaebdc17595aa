import DNSSD
import Discovery
import Testing

@Suite("In which order to dial")
struct EndpointOrderTests {
    private func sorted(
        _ texts: [String], _ local: LocalAddresses, _ history: EndpointHistory = EndpointHistory(),
        now: Duration = .zero
    ) throws -> [String] {
        try EndpointOrder(local: local, history: history).sorted(texts.map { try endpoint($0) }, now: now)
            .map { $0.address.text(scopedTo: nil) }
    }

    @Test("RFC 6724 §6 rule 1: addresses that no address of this machine can reach come last")
    func unusable() throws {
        let local = LocalAddresses(entries: [try entry("10.77.0.2", 24)])
        #expect(try sorted(["2001:db8::1", "10.77.0.1"], local) == ["10.77.0.1", "2001:db8::1"])
    }

    @Test("RFC 6724 §6 rule 2: matching scope (§10.2's first example)")
    func scope() throws {
        let local = LocalAddresses(
            entries: [try entry("fe80::2%2", 64), try entry("10.77.0.2", 24)])
        // A global IPv6 destination would be reached from a link-local address.
        #expect(try sorted(["2001:db8:1::1", "198.51.100.121"], local) == ["198.51.100.121", "2001:db8:1::1"])
    }

    @Test("RFC 6724 §6 rule 5: matching label: 6to4 from 6to4 (§10.2)")
    func label() throws {
        let local = LocalAddresses(
            entries: [try entry("2002:c633:6401::2", 64), try entry("10.1.2.4", 24)])
        #expect(
            try sorted(["2002:c633:6401::1", "2001:db8:1::1"], local) == ["2002:c633:6401::1", "2001:db8:1::1"])
    }

    @Test("RFC 6724 §6 rule 6: IPv6 before IPv4, and IPv4 before unique local addresses (§2.1)")
    func precedence() throws {
        let local = LocalAddresses(
            entries: [try entry("10.77.0.2", 24), try entry("2001:db8:1::2", 64), try entry("fd00::2", 64)])
        #expect(try sorted(["10.77.0.1", "2001:db8:1::1"], local) == ["2001:db8:1::1", "10.77.0.1"])
        #expect(try sorted(["fd00::1", "10.77.0.1"], local) == ["10.77.0.1", "fd00::1"])
    }

    @Test("RFC 6724 §6 rule 8: smaller scope (§10.2: fe80 before a global address)")
    func smallerScope() throws {
        #expect(try sorted(["2001:db8:1::1", "fe80::1%2"], machine()) == ["fe80::1%2", "2001:db8:1::1"])
    }

    @Test("RFC 6724 §6 rule 9: longest matching prefix")
    func longestPrefix() throws {
        let local = LocalAddresses(
            entries: [try entry("2001:db8:1::2", 64), try entry("2001:db8:3ffe::2", 64), try entry("10.77.0.2", 24)])
        #expect(
            try sorted(["2001:db8:4000::1", "2001:db8:1::1"], local) == ["2001:db8:1::1", "2001:db8:4000::1"])
        #expect(try sorted(["10.200.0.1", "10.77.0.1"], local) == ["10.77.0.1", "10.200.0.1"])
    }

    @Test("RFC 6724 §6 rule 10: otherwise the order is kept")
    func stable() throws {
        let local = LocalAddresses(entries: [try entry("10.77.0.2", 24)])
        let texts = ["10.77.0.17", "10.77.0.16", "10.77.0.18"]
        #expect(try sorted(texts, local) == texts)
        #expect(try sorted(texts.reversed(), local) == texts.reversed())
    }

    @Test("RFC 8305 §4: families take turns, beginning with the one that is preferred")
    func interleaved() throws {
        let texts = ["10.77.0.1", "10.77.0.3", "10.77.0.4", "fe80::1%2", "2001:db8:1::1"]
        #expect(
            try sorted(texts, machine()) == ["fe80::1%2", "10.77.0.3", "2001:db8:1::1", "10.77.0.1", "10.77.0.4"])
    }

    @Test("each endpoint once")
    func unique() throws {
        #expect(try sorted(["10.77.0.1", "10.77.0.1"], machine()) == ["10.77.0.1"])
        #expect(try sorted([], machine()).isEmpty)
    }

    @Test("RFC 8305 §4: addresses that worked come first, those that just failed last, both for a while")
    func history() throws {
        var history = EndpointHistory()
        history.succeeded(try endpoint("10.77.0.4"), now: .seconds(10))
        history.failed(try endpoint("fe80::1%2"), now: .seconds(10))
        let texts = ["10.77.0.1", "10.77.0.4", "fe80::1%2", "2001:db8:1::1"]
        #expect(
            try sorted(texts, machine(), history, now: .seconds(11))
                == ["10.77.0.4", "2001:db8:1::1", "10.77.0.1", "fe80::1%2"])
        #expect(
            try sorted(texts, machine(), history, now: .seconds(71))
                == ["10.77.0.4", "fe80::1%2", "10.77.0.1", "2001:db8:1::1"])
        #expect(
            try sorted(texts, machine(), history, now: .seconds(611))
                == ["fe80::1%2", "10.77.0.1", "2001:db8:1::1", "10.77.0.4"])
    }

    @Test("of several that worked the latest comes first; one that failed afterwards does not count as working")
    func latest() throws {
        var history = EndpointHistory()
        history.succeeded(try endpoint("10.77.0.3"), now: .seconds(1))
        history.succeeded(try endpoint("10.77.0.4"), now: .seconds(2))
        #expect(try sorted(["10.77.0.3", "10.77.0.4"], machine(), history).first == "10.77.0.4")
        history.failed(try endpoint("10.77.0.4"), now: .seconds(3))
        #expect(try sorted(["10.77.0.4", "10.77.0.3"], machine(), history).first == "10.77.0.3")
    }

    @Test("the history is bounded, and forgets the oldest")
    func bounded() throws {
        var history = EndpointHistory()
        for number in 0..<1000 {
            let address = IPAddress.v4(IPv4Address(bits: 0x0A00_0000 + UInt32(number)))
            history.succeeded(Endpoint(address: address, port: try Port(1), interface: eth0), now: .seconds(number))
        }
        #expect(history.count == EndpointHistory.capacity)
        let last = Endpoint(address: try parsed("10.0.3.231"), port: try Port(1), interface: eth0)
        #expect(history.lastSuccess(last, now: .seconds(1000)) == .seconds(999))
    }

    @Test("the scope of IPv4 loopback and 169.254/16 is link-local (RFC 6724 §3.2)")
    func ipv4Scopes() throws {
        #expect(try parsed("127.0.0.1").policyScope == 2)
        #expect(try parsed("169.254.1.1").policyScope == 2)
        #expect(try parsed("10.0.0.1").policyScope == 14)
        #expect(try parsed("ff02::fb").policyScope == 2)
        #expect(try parsed("fec0::1").policyScope == 5)
    }

    @Test(
        "the policy table (RFC 6724 §2.1)",
        arguments: [
            ("::1", 50, 0), ("2001:db8::1", 40, 1), ("10.0.0.1", 35, 4), ("::ffff:10.0.0.1", 35, 4),
            ("2002::1", 30, 2), ("2001::1", 5, 5), ("fd00::1", 3, 13), ("::10.0.0.1", 1, 3), ("fec0::1", 1, 11),
            ("3ffe::1", 1, 12), ("fe80::1", 40, 1),
        ] as [(String, Int, Int)])
    func table(_ text: String, _ precedence: Int, _ label: Int) throws {
        let policy = try parsed(text).policy
        #expect((policy.precedence, policy.label) == (precedence, label))
    }
}
