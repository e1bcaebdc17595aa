import Testing

@testable import DNSSD

@Suite("further names of this machine") struct OfferedAliasTests {
    @Test(
        "what does not end in local is below it, at any depth",
        arguments: [
            ("wiki", "wiki.local"), ("shop.wiki", "shop.wiki.local"), ("wiki.h1.local", "wiki.h1.local"),
            ("Wiki.LOCAL.", "Wiki.LOCAL"), ("büro", "büro.local"), ("local.wiki", "local.wiki.local"),
            (#"a\.b"#, #"a\.b.local"#),
        ])
    func names(_ text: String, _ name: String) throws { #expect(try OfferedAlias(text).name.text == name) }

    @Test(
        "no name, none below local, one of services, or too long: refused",
        arguments: [
            "", ".", "local", "LOCAL.", "_http._tcp", "tony._witap._tcp.local", "a..b", "a\u{1B}b", "wiki\u{0}",
            String(repeating: "x", count: 64), String(repeating: "abcdefg.", count: 31) + "abcdefg",
        ])
    func refused(_ text: String) {
        #expect {
            _ = try OfferedAlias(text)
        } throws: { error in
            (error as? DiscoveryError)?.code == .invalidHostName
        }
    }

    @Test(
        "in a zone what does not end in its domain is below it, and has letters, digits and hyphens",
        arguments: [
            ("wiki", "wiki.home.example.org"), ("shop.wiki", "shop.wiki.home.example.org"),
            ("Wiki.HOME.example.org.", "Wiki.HOME.example.org"), ("wiki.local", nil),
            ("example.org", "example.org.home.example.org"), ("büro", nil), ("home.example.org", nil), ("*", nil),
            ("a_b", nil), ("_http._tcp", nil), ("-a", nil), ("a-.b", nil), (#"a\.b"#, nil), ("", nil),
        ])
    func zones(_ text: String, _ name: String?) throws {
        let domain = try Domain("home.example.org")
        let alias = try? OfferedAlias(text, in: domain)
        #expect(alias?.name.text == name)
        guard let alias else { return }
        let service = try OfferedService(alias: alias)
        let next = OfferedService.name(after: service.name, ofAlias: true)
        #expect(service.domain == domain && service.aliasFault == nil)
        #expect(service.host(as: next).map { HostName(observed: next.text) == $0.name } == true)
    }

    @Test("a domain of a service has no hosts")
    func ofService() throws {
        let domain = try Domain("_http._tcp.example.org")
        #expect(throws: DiscoveryError.self) { try OfferedAlias("wiki", in: domain) }
    }

    @Test(
        "the next name is that of the first label, as long as it may be",
        arguments: [
            ("wiki", "wiki-2.local"), ("wiki-2", "wiki-3.local"), ("shop.wiki", "shop-2.wiki.local"),
            ("a-b", "a-b-2.local"), ("a1", "a1-2.local"), ("a-0", "a-0-2.local"), ("-7", "8.local"),
            ("x-99999999999999999999", "x-99999999999999999999-2.local"),
            (String(repeating: "x", count: 63), String(repeating: "x", count: 61) + "-2.local"),
            (String(repeating: "ü", count: 31), String(repeating: "ü", count: 30) + "-2.local"),
            // 254 bytes on the wire, and then 255.
            (
                String(repeating: "abcdefg.", count: 30) + "abcdef",
                "abcdef-2" + String(repeating: ".abcdefg", count: 29) + ".abcdef.local"
            ),
        ])
    func next(_ text: String, _ next: String) throws {
        let alias = try OfferedService(alias: OfferedAlias(text))
        let name = OfferedService.name(after: alias.name, ofAlias: true)
        #expect(name.text == next)
        #expect(try OfferedAlias(name.text).name.text == next && alias.host(as: name)?.name.text == next)
    }

    @Test("an alias is no service, and its addresses are this machine's")
    func alone() throws {
        let alias = try OfferedService(alias: OfferedAlias("wiki"), family: .ipv4)
        #expect(alias.isAddressRecord && alias.isAlias && alias.host?.addresses.isEmpty == true)
        let host = try OfferedHost(name: HostName("wiki.local"), addresses: [try #require(IPAddress("10.0.0.9"))])
        #expect(try !OfferedService(addressesOf: host).isAlias && !host.isAlias && host.isAnsweredHere)
        #expect(try !OfferedHost(name: HostName("wiki.local")).isAnsweredHere)
    }
}
