import Foundation
import Testing

@testable import DiscoveryDaemon

/// `export:` and `mirror:`: a mistake in them must not publish more than was meant.
@Suite struct ExportRuleTests {
    private static let domains = "domains: [{name: z.example.org, key: k}, {name: found.example.org}]\n"

    @Test(arguments: [
        ("{interface: eth0, domain: local, types: [_http._tcp]}", "not exported to the link"),
        ("{interface: eth0, domain: a.example.org, types: [_http._tcp]}", "no entry with a key"),
        ("{interface: eth0, domain: found.example.org, types: [_http._tcp]}", "no entry with a key"),
        ("{interface: eth0, domain: '*.z.example.org', types: [_http._tcp]}", "wildcard"),
        ("{interface: eth0, domain: z.example.org}", "types"),
        ("{interface: eth0, domain: z.example.org, types: []}", "1 to 64"),
        ("{interface: eth0, domain: z.example.org, types: '*'}", "letter"),
        ("{interface: eth0, domain: z.example.org, types: [_http._tcp, http]}", "twice"),
        ("{interface: eth0, domain: z.example.org, types: [_a1._sub._ipp._tcp, _A1._sub._ipp._tcp]}", "twice"),
        ("{domain: z.example.org, types: [_http._tcp]}", "interface"),
        ("{interface: [], domain: z.example.org, types: [_http._tcp]}", "no entry"),
        ("{interface: eth0, domain: z.example.org, types: [_http._tcp], names: ['[']}", "no ]"),
        ("{interface: eth0, domain: z.example.org, types: [_http._tcp], name: x}", "unknown key"),
        (
            "{interface: eth0, domain: z.example.org, types: [_http._tcp]}, "
                + "{interface: eth1, domain: Z.example.org, types: [_ipp._tcp]}", "twice"
        ),
    ])
    func isRefused(_ rules: String, _ word: String) throws {
        let text = Self.domains + "export: [\(rules)]\n"
        let directory = try ConfigurationDirectory(["discoverd.yaml": text])
        let error = try #require(throws: ConfigurationError.self) { try directory.load() }
        #expect(error.lines.contains { $0.contains(word) }, "\(error.lines)")
    }

    @Test(arguments: [
        ("{from: iot, to: iot, types: [_http._tcp]}", "same link"),
        ("{from: [iot, guest], to: [home, guest], types: [_http._tcp], label: x}", "same link"),
        ("{from: 'iot*', to: home, types: [_http._tcp]}", "label is missing"),
        ("{from: iot, to: home, types: [_http._tcp], label: a.b}", "letters, digits"),
        ("{from: iot, to: home, types: [_http._tcp], label: ''}", "letters, digits"),
        ("{from: iot, types: [_http._tcp]}", "to"),
        ("{from: iot, to: home}", "types"),
        ("{from: iot, to: home, types: []}", "1 to 64"),
        ("{from: iot, to: home, types: [_http._tcp], domain: x}", "unknown key"),
        (
            "{from: iot, to: home, types: [_http._tcp]}, {from: cam, to: home, types: [_http._tcp], label: iot}",
            "same label"
        ),
    ])
    func isNoMirror(_ rules: String, _ word: String) throws {
        let directory = try ConfigurationDirectory(["discoverd.yaml": "mirror: [\(rules)]\n"])
        let error = try #require(throws: ConfigurationError.self) { try directory.load() }
        #expect(error.lines.contains { $0.contains(word) }, "\(error.lines)")
    }
}
