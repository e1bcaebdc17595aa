import DNSSD
import Discovery
import Testing

@Suite("Blocks of addresses (RFC 4632 §3.1)")
struct CIDRTests {
    @Test(arguments: ["10.0.0.0/8", "0.0.0.0/0", "::/0", "fd00::/8", "192.168.1.7/32", "2001:db8::/33", "::1/128"])
    func isWrittenAsItWasRead(_ text: String) throws {
        #expect(try CIDR(text).description == text)
    }

    @Test func aSingleAddressIsABlock() throws {
        #expect(try CIDR("10.0.0.7").prefixLength == 32)
        #expect(try CIDR("fd00::7").prefixLength == 128)
    }

    @Test(
        arguments: [
            "", "/", "10.0.0.0/", "10.0.0.0/33", "::/129", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/8/8", "10.0.0/8",
            "fe80::1%2/64", "fe80::1%eth0", "10.0.0.0/0008", "local/8", "10.0.0.0/ 8", " 10.0.0.0/8",
        ])
    func whatIsNoBlockIsRefused(_ text: String) {
        #expect { try CIDR(text) } throws: { ($0 as? DiscoveryError)?.code == .invalidAddress }
    }

    @Test("bits after the prefix are a mistake, and the message has the block that was meant")
    func bitsAfterThePrefix() {
        #expect { try CIDR("10.0.0.7/24") } throws: { ($0 as? DiscoveryError)?.message.contains("10.0.0.0/24") == true }
        #expect { try CIDR("fd00::7/64") } throws: { ($0 as? DiscoveryError)?.message.contains("fd00::/64") == true }
    }

    @Test(
        arguments: [
            ("10.0.0.0/8", "10.255.255.255", true), ("10.0.0.0/8", "11.0.0.0", false), ("0.0.0.0/0", "8.8.8.8", true),
            ("0.0.0.0/0", "::1", false), ("::/0", "8.8.8.8", false), ("::/0", "2001:db8::1", true),
            ("fe80::/10", "fe80::1%2", true), ("2001:db8::/33", "2001:db8:7fff::", true),
            ("2001:db8::/33", "2001:db8:8000::", false), ("::/64", "::1:0:0:0:0", false), ("::/64", "::ffff", true),
            ("::1/128", "::1", true), ("::1/128", "::2", false), ("10.0.0.1/32", "10.0.0.1", true),
        ] as [(String, String, Bool)])
    func contains(_ block: String, _ text: String, _ expected: Bool) throws {
        #expect(try CIDR(block).contains(try parsed(text)) == expected)
    }

    @Test func everyPrefixLengthHasTheBlockAroundAnAddress() throws {
        for text in ["198.51.100.77", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"] {
            let address = try parsed(text)
            for length in 0...(address.family == .ipv4 ? 32 : 128) {
                let block = try #require(CIDR(containing: address, prefixLength: length))
                #expect(block.contains(address))
                #expect(try CIDR(block.description) == block)
            }
            #expect(CIDR(containing: address, prefixLength: -1) == nil)
            #expect(CIDR(containing: address, prefixLength: 129) == nil)
        }
    }
}
