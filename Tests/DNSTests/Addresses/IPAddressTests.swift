import DNSSD
import Glibc
import Testing

@Suite("IP addresses")
struct IPAddressTests {
    @Test(
        "IPv4: four numbers, nothing else",
        arguments: [
            "", "1", "1.2.3", "1.2.3.4.5", "1.2.3.256", "1.2.3.04", "1.2.3.00", "01.2.3.4", "1.2.3.", ".1.2.3",
            "1..2.3", "+1.2.3.4",
            "-1.2.3.4", " 1.2.3.4", "1.2.3.4 ", "0x1.2.3.4", "1.2.3.1000", "１.2.3.4", "1.2.3.4\0", "1.2.3.4%eth0",
            "99999999999999999999.1.1.1",
        ]
    )
    func notIPv4(text: String) {
        #expect(IPv4Address(text) == nil && IPAddress(text) == nil)
    }

    @Test func ipv4() throws {
        let address = try #require(IPv4Address("10.0.200.255"))
        #expect(
            address.bits == 0x0A00_C8FF && address.bytes == [10, 0, 200, 255] && address.description == "10.0.200.255"
        )
        #expect(IPv4Address(bytes: address.bytes) == address)
        #expect(
            IPv4Address(bytes: [1, 2, 3]) == nil && IPv4Address(bytes: [1, 2, 3, 4, 5]) == nil
                && IPv4Address(bytes: []) == nil
        )
    }

    @Test(
        "RFC 5952 §4 and §5: the one form that is written",
        arguments: [
            ("::", "::"), ("::1", "::1"), ("1::", "1::"), ("2001:DB8::0001", "2001:db8::1"),
            ("2001:db8:0:0:0:0:2:1", "2001:db8::2:1"),
            ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"), ("2001:0:0:1:0:0:0:1", "2001:0:0:1::1"),
            ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"), ("::ffff:10.0.0.7", "::ffff:10.0.0.7"),
            ("::ffff:0a00:7", "::ffff:10.0.0.7"),
            ("::1.2.3.4", "::102:304"), ("64:ff9b::1.2.3.4", "64:ff9b::102:304"),
            ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"),
            ("::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"), ("1:0:0:4:5:6:0:0", "1::4:5:6:0:0"),
            ("0:0:0:0:5:6:0:0", "::5:6:0:0"),
            ("1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"), ("FE80::abcd", "fe80::abcd"),
        ]
    )
    func ipv6(text: String, written: String) throws {
        let address = try #require(IPv6Address(text))
        #expect(address.description == written)
        #expect(IPv6Address(written) == address && IPv6Address(bytes: address.bytes) == address)
    }

    @Test(
        "RFC 4291 §2.2: texts that are not IPv6 addresses",
        arguments: [
            "", ":", ":::", "1", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8::", "::1:2:3:4:5:6:7:8",
            "1::2::3", "12345::",
            "g::", ":1::", "1:::2", "::1:", "1:2:3:4:5:6:7:", ":1:2:3:4:5:6:7", "1.2.3.4::", "::1.2.3", "::1.2.3.4:5",
            "::01.2.3.4",
            "1:2:3:4:5:6:7:1.2.3.4", "::+1", "::-1", "fe80::1%", "fe80::1%eth0", "::1 ", " ::1", "::\0", "::１", "[::1]",
        ]
    )
    func notIPv6(text: String) {
        #expect(IPv6Address(text) == nil)
    }

    @Test("What the C library reads, writes and refuses")
    func systemAgrees() {
        var generator = SeededGenerator(seed: 8)
        let parts = [
            "0", "1", "f", "ffff", "0001", "12345", ":", ":", ":", "::", ".", "1.2.3.4", "255", "256", "g", "", "00",
        ]
        for _ in 0..<60_000 {
            var text = ""
            for _ in 0..<Int.random(in: 1...17, using: &generator) {
                text += parts.randomElement(using: &generator) ?? ""
            }
            #expect(IPv4Address(text)?.bytes == system(AF_INET, text, 4), "\(text)")
            #expect(IPv6Address(text)?.bytes == system(AF_INET6, text, 16), "\(text)")
        }
    }

    @Test("Written addresses can be read, by the C library too")
    func roundTrip() {
        var generator = SeededGenerator(seed: 9)
        for _ in 0..<20_000 {
            var bytes = generator.bytes(16...16)
            for group in 0..<8 where Int.random(in: 0..<3, using: &generator) > 0 {
                bytes[group * 2] = 0
                if Bool.random(using: &generator) { bytes[group * 2 + 1] = 0 }
            }
            guard let address = IPv6Address(bytes: bytes) else {
                Issue.record("16 bytes were refused")
                return
            }
            #expect(IPv6Address(address.description) == address && address.bytes == bytes)
            #expect(system(AF_INET6, address.description, 16) == bytes)
            // The C library still writes IPv4-compatible addresses with an IPv4 address at the end.
            if !address.isIPv4Compatible { #expect(written(bytes) == address.description) }
            let four = IPv4Address(bits: UInt32(truncatingIfNeeded: address.low))
            #expect(IPv4Address(four.description) == four && system(AF_INET, four.description, 4) == four.bytes)
        }
    }

    private func system(_ family: Int32, _ text: String, _ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return inet_pton(family, text, &bytes) == 1 ? bytes : nil
    }

    private func written(_ bytes: [UInt8]) -> String? {
        var text = [CChar](repeating: 0, count: 64)
        guard inet_ntop(AF_INET6, bytes, &text, 64) != nil else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    @Test("RFC 4007 §11: a link-local address is written with its interface")
    func scopes() throws {
        let eth0 = NetworkInterface(index: 2, name: "eth0")
        let port = try Port(9000)
        let scoped = try #require(IPAddress("fe80::1%2"))
        #expect(scoped == .v6(IPv6Address(high: 0xFE80 << 48, low: 1), scope: 2))
        #expect(scoped.description == "fe80::1" && scoped.text(scopedTo: nil) == "fe80::1%2")
        #expect(scoped.text(scopedTo: eth0) == "fe80::1%eth0")
        #expect(IPAddress("fe80::1")?.text(scopedTo: nil) == "fe80::1")
        #expect(IPAddress("2001:db8::1")?.text(scopedTo: eth0) == "2001:db8::1")
        #expect(IPAddress("169.254.0.1")?.text(scopedTo: eth0) == "169.254.0.1")
        #expect(IPAddress("fe80::1%eth0", on: eth0) == scoped && IPAddress("fe80::1", on: eth0) == scoped)
        #expect(IPAddress("fe80::1%2", on: eth0) == scoped && IPAddress("fe80::1%eth1", on: eth0) == nil)
        #expect(IPAddress("2001:db8::1", on: eth0) == IPAddress("2001:db8::1"))
        for bad in [
            "fe80::1%", "fe80::1%0", "fe80::1%eth0", "fe80::1%-1", "fe80::1%+1", "fe80::1%4294967296", "1.2.3.4%2",
            "%2",
        ] {
            #expect(IPAddress(bad) == nil, "\(bad)")
        }
        let endpoint = Endpoint(address: scoped, port: port, interface: eth0)
        #expect(endpoint.addressText == "fe80::1%eth0" && endpoint.description == "[fe80::1%eth0]:9000")
        let plain = Endpoint(address: .v4(IPv4Address(bits: 0x0A00_0007)), port: port, interface: eth0)
        #expect(plain.addressText == "10.0.0.7" && plain.description == "10.0.0.7:9000")
        let rude = Endpoint(address: scoped, port: port, interface: NetworkInterface(index: 2, name: "\u{1B}"))
        #expect(isSafe(rude.description))
    }

    @Test func order() throws {
        let texts = ["10.0.0.2", "10.0.0.10", "::1", "fe80::1%1", "fe80::1%2", "fe80::2%1"]
        let sorted = try texts.map { try #require(IPAddress($0)) }
        #expect(sorted.reversed().sorted() == sorted)
        let endpoints = try sorted.flatMap { address in
            try [1, 2].map {
                Endpoint(address: address, port: try Port($0), interface: NetworkInterface(index: 1, name: "a"))
            }
        }
        #expect(endpoints.reversed().sorted() == endpoints)
    }

    @Test(arguments: absurdTexts) func nothingTraps(text: String) {
        _ = IPAddress(text, on: NetworkInterface(index: 0, name: text))
        if let address = IPAddress(text) { #expect(IPAddress(address.text(scopedTo: nil)) == address) }
    }
}
