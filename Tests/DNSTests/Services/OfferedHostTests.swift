import Testing

@testable import DNSSD

@Suite struct OfferedHostTests {
    private func made(_ name: String, _ addresses: String...) -> DiscoveryError.Code? {
        do throws(DiscoveryError) {
            _ = try OfferedHost(name: HostName(name), addresses: addresses.compactMap { IPAddress($0) })
            return nil
        } catch {
            return error.code
        }
    }

    @Test("a host of the link may have addresses; any other answers for itself")
    func names() {
        #expect(made("printer.local", "10.0.0.9", "fd00::9", "fe80::9") == nil)
        #expect(made("Printer.LOCAL.", "10.0.0.9") == nil)
        #expect(made("printer.example.org") == nil)
        for name in ["printer.example.org", "local", "a.b.local", "printer.localhost"] {
            #expect(made(name, "10.0.0.9") == .invalidHostName, "\(name)")
        }
    }

    @Test(
        "addresses at which nobody finds a host are refused",
        arguments: [
            "127.0.0.1", "::1", "0.0.0.0", "::", "224.0.0.251", "ff02::fb", "255.255.255.255", "::ffff:10.0.0.9",
        ])
    func addresses(_ address: String) { #expect(made("printer.local", address) == .invalidAddress) }

    @Test("addresses without a service are not a service of that name, and there is at least one")
    func alone() throws {
        let host = try OfferedHost(name: HostName("printer.local"), addresses: [try #require(IPAddress("10.0.0.9"))])
        let record = try OfferedService(addressesOf: host, family: .ipv4)
        #expect(record.isAddressRecord && record.name.text == "printer.local" && record.host == host)
        var service = record
        service.isAddressRecord = false
        #expect(service != record)
        #expect(throws: DiscoveryError.self) {
            try OfferedService(addressesOf: OfferedHost(name: HostName("printer.local")))
        }
    }

    @Test func notMoreThanSixteen() throws {
        let addresses = (0..<17).map { IPAddress.v4(IPv4Address(bits: 0x0A00_0000 + $0)) }
        #expect(
            try OfferedHost(name: HostName("a.local"), addresses: Array(addresses.prefix(16))).addresses.count == 16)
        #expect(throws: DiscoveryError.self) { try OfferedHost(name: HostName("a.local"), addresses: addresses) }
    }
}
