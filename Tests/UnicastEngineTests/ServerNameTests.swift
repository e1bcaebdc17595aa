import DNSSD
import Testing

@testable import UnicastEngine

@Suite struct ServerNameTests {
    @Test(arguments: [
        ("10.0.0.53", "10.0.0.53"), ("10.0.0.53:5353", "10.0.0.53:5353"), ("fd00::53", "fd00::53"),
        ("[fd00::53]", "fd00::53"), ("[fd00::53]:5353", "[fd00::53]:5353"), ("ns.example.org", "ns.example.org"),
        ("ns.example.org:54", "ns.example.org:54"),
    ])
    func isRead(_ text: String, _ shown: String) throws { #expect(try ServerName(text).description == shown) }

    @Test(arguments: ["", ":53", "ns:", "ns:0", "ns:65536", "ns:x", "[fd00::53", "[ns]:53", "[fd00::53]53"])
    func isRefused(_ text: String) { #expect(throws: DiscoveryError.self) { try ServerName(text) } }
}
