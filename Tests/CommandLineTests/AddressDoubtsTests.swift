#if Commands
import DNSSD
import Discovery
import Testing

@testable import DiscoverdCommands

@Suite("Addresses that others do not dial")
struct AddressDoubtsTests {
    private let eth0 = NetworkInterface(index: 2, name: "eth0")
    private let wg0 = NetworkInterface(index: 3, name: "wg0")
    private let lo = NetworkInterface(index: 1, name: "lo")

    @Test(
        "what no policy dials is said so; what depends on the reader's routes, which are not known here, is said to",
        arguments: [
            ("10.77.0.9", nil), ("fe80::9", nil), ("10.77.0.255", "never dials 10.77.0.255: a broadcast address"),
            ("169.254.169.254", "never dials 169.254.169.254: a cloud's address"),
            ("10.99.8.3", "dials 10.99.8.3 only where a route to it leaves by the link"),
            ("fd00::9", "dials fd00::9 only where a route to it"),
            ("203.0.113.7", "dials 203.0.113.7 only where it is in a network of the link"),
            ("64:ff9b::808:808", "does not dial 64:ff9b::808:808 by default: a NAT64 address"),
            // This machine's own, of another link.
            ("10.8.0.1", "dials 10.8.0.1 only where a route to it"),
        ] as [(String, String?)])
    func doubts(_ text: String, _ doubt: String?) throws {
        func entry(_ text: String, _ length: Int, _ interface: NetworkInterface) throws -> LocalAddresses.Entry {
            LocalAddresses.Entry(
                interface: interface, address: try #require(IPAddress(text)), prefixLength: length)
        }
        let local = LocalAddresses(
            entries: [
                try entry("127.0.0.1", 8, lo), try entry("10.77.0.1", 24, eth0), try entry("fe80::1%2", 64, eth0),
                try entry("10.8.0.1", 24, wg0),
            ], loopbacks: [lo])
        var service = OfferedService(
            name: try ServiceName("tony"), type: try ServiceType("_http._tcp"), port: try Port(80))
        service.host = try OfferedHost(name: HostName("printer.local"), addresses: [#require(IPAddress(text))])
        let doubts = AddressDoubts.of(service, on: [lo, eth0], local)
        #expect(doubts.count == (doubt == nil ? 0 : 1))
        if let doubt { #expect(doubts.first?.hasPrefix("discoverd on other hosts \(doubt)") == true, "\(doubts)") }
        #expect(AddressDoubts.of(service, on: [lo], local).isEmpty)
    }
}
#endif
