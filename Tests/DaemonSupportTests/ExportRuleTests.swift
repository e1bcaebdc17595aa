import DNSSD
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
        ("{from: iot, to: '*', types: [_http._tcp]}", "to has each link of from"),
        ("{from: [iot0, iot1], to: 'iot?', types: [_http._tcp], label: x}", "to has each link of from"),
        ("{from: 'iot*', to: '*', types: [_http._tcp], label: x}", "to has each link of from"),
        ("{from: '!home', to: '*', types: [_http._tcp], label: x}", "to has each link of from"),
        ("{from: iot, to: '!home', types: [_http._tcp]}", "to has each link of from"),
        ("{from: 'iot*', to: home, types: [_http._tcp]}", "label is missing"),
        ("{from: iot, to: home, types: [_http._tcp], label: a.b}", "letters, digits"),
        ("{from: iot, to: home, types: [_http._tcp], label: ''}", "letters, digits"),
        ("{from: iot, to: home, types: [_http._tcp], label: iot-}", "letters, digits"),
        (
            "{from: iot, to: home, types: [_http._tcp]}, {from: cam, to: [home, lab], types: [_http._tcp], label: IOT}",
            "same label"
        ),
        ("{from: iot, to: home, types: [_http._tcp]}, {from: iot, to: home, types: [_ipp._tcp]}", "types into one"),
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

    @Test(
        "some links of from are no links of to, or may be none",
        arguments: [
            "{from: iot, to: ['*', '!iot'], types: [_http._tcp]}",
            "{from: [iot, cam], to: 'cam*', types: [_http._tcp]}",
            "{from: '!eth0', to: '!iot', types: [_http._tcp], label: x}",
            "{from: 'iot*', to: ['*', '!iot3'], types: [_http._tcp], label: x}",
        ])
    func isAMirror(_ rule: String) throws {
        #expect(try ConfigurationDirectory(["discoverd.yaml": "mirror: [\(rule)]\n"]).load().mirrors.count == 1)
    }
}

/// `mirror-listen:`, `peers:` and a site in `mirror:`: a mistake in them must not tell more than was meant, nor to another.
@Suite struct PeerRuleTests {
    private static let key = "SHA256:Kq8rPLoRq1C0bEkmvB5qvlyJGYlNcMrT8qW2vlKZ7dA"
    private static let peers = "peers: {site-a: '\(key)', site-b: 'SHA256:\(String(repeating: "A", count: 43))'}\n"

    private func load(_ line: String) throws -> DaemonConfiguration {
        try ConfigurationDirectory(["discoverd.yaml": Self.peers + line + "\n"]).load()
    }

    @Test func isRead() throws {
        let listening = try load(
            "mirror-listen: {address: '[fd00::1]:5354', from: [iot, cam], types: [_ipp._tcp], names: '!x', peers: site-b}"
        )
        let rule = try #require(listening.mirrorListen)
        let address = try #require(IPAddress("fd00::1"))
        let place = MirrorListen(address: address, port: try Port(5354), peers: ["site-b"])
        #expect(rule.destination == .peers(place) && "\(place)" == "[fd00::1]:5354")
        #expect(rule.interfaces.patterns == ["iot", "cam"] && rule.domain == .local)
        #expect(!rule.names.allows(ServiceName(observed: "x")))
        let following = try load(
            "mirror: [{from: {peer: site-a, address: 'gw.example.org:5354'}, to: home, types: [_ipp._tcp]}]")
        let mirror = try #require(following.mirrors.first)
        #expect(mirror.source == .peer(MirrorPeer(name: "site-a", host: "gw.example.org", port: try Port(5354))))
        let links = MirrorLinks(interfaces: try InterfaceFilter(["home"]), label: "site-a")
        #expect(mirror.destination == .links(links) && following.mirrorListen == nil)
        #expect(following.peers["site-a"].map { "\($0)" } == Self.key)
    }

    @Test(arguments: [
        ("mirror: [{from: {peer: site-c, address: '10.8.0.1:5354'}, to: home, types: [_ipp._tcp]}]", "no key in peers"),
        ("mirror: [{from: {peer: site-a}, to: home, types: [_ipp._tcp]}]", "no address"),
        ("mirror: [{from: {address: '10.8.0.1:5354'}, to: home, types: [_ipp._tcp]}]", "no peer"),
        ("mirror: [{from: {peer: site-a, address: 10.8.0.1}, to: home, types: [_ipp._tcp]}]", "a host and a port"),
        ("mirror: [{from: {peer: site-a, address: '10.8.0.1:0'}, to: home, types: [_ipp._tcp]}]", "a host and a port"),
        (
            "mirror: [{from: {peer: site-a, address: 'fd00::1:5354'}, to: home, types: [_ipp._tcp]}]",
            "a host and a port"
        ),
        ("mirror: [{from: {peer: site-a, address: 'a..b:5354'}, to: home, types: [_ipp._tcp]}]", "address"),
        ("mirror: [{from: {peer: site-a, address: 'a:1', key: x}, to: home, types: [_ipp._tcp]}]", "unknown key"),
        ("mirror: [{from: {peer: site-a, address: 'a:1'}, types: [_ipp._tcp]}]", "no to"),
        (
            "mirror: [{from: site-a, to: home, types: [_ipp._tcp]}, {from: {peer: site-a, address: 'a:1'}, to: home, types: [_ipp._tcp]}]",
            "same label"
        ),
        ("mirror-listen: {from: iot, types: [_ipp._tcp], peers: [site-b]}", "no address"),
        (
            "mirror-listen: {address: '10.8.0.1', from: iot, types: [_ipp._tcp], peers: [site-b]}",
            "an IP address and a port"
        ),
        (
            "mirror-listen: {address: '224.0.0.251:5354', from: iot, types: [_ipp._tcp], peers: [site-b]}", "no scope"
        ),
        (
            "mirror-listen: {address: 'h1:5354', from: iot, types: [_ipp._tcp], peers: [site-b]}",
            "an IP address and a port"
        ),
        (
            "mirror-listen: {address: '10.8.0.1:5353', from: iot, types: [_ipp._tcp], peers: [site-b]}",
            "multicast DNS's own"
        ),
        ("mirror-listen: {address: '10.8.0.1:5354', types: [_ipp._tcp], peers: [site-b]}", "no from"),
        ("mirror-listen: {address: '10.8.0.1:5354', from: iot, peers: [site-b]}", "no types"),
        ("mirror-listen: {address: '10.8.0.1:5354', from: iot, types: [_ipp._tcp]}", "no peers"),
        ("mirror-listen: {address: '10.8.0.1:5354', from: iot, types: [_ipp._tcp], peers: []}", "at least one"),
        ("mirror-listen: {address: '10.8.0.1:5354', from: iot, types: [_ipp._tcp], peers: [site-b, site-b]}", "once"),
        (
            "mirror-listen: {address: '10.8.0.1:5354', from: iot, types: [_ipp._tcp], peers: [site-c]}",
            "no key in peers"
        ),
        (
            "mirror-listen: {address: '10.8.0.1:5354', from: iot, types: [_ipp._tcp], peers: site-b, to: x}",
            "unknown key"
        ),
    ])
    func isRefused(_ line: String, _ word: String) throws {
        let error = try #require(throws: ConfigurationError.self) { try load(line) }
        #expect(error.lines.contains { $0.contains(word) && $0.contains(".yaml:2") }, "\(error.lines)")
    }

    @Test(
        "one mistake in peers is one error: nobody is unknown for it",
        arguments: [
            ("{site-a: x}", "site-a must be a key"), ("[site-a]", "must be a mapping"),
            ("{site_a: '\(key)'}", "the name of a peer"),
            ("{site-b: '\(key)', site-a: '\(key)'}", "two peers have the same key"),
        ])
    func oneMistake(_ peers: String, _ word: String) throws {
        let name = peers.contains("site_a") ? "site_a" : "site-a"
        let rules = """
            peers: \(peers)
            mirror: [{from: {peer: \(name), address: '10.8.0.1:5354'}, to: home, types: [_ipp._tcp], label: x}]
            mirror-listen: {address: '10.8.0.1:5354', from: iot, types: [_ipp._tcp], peers: [\(name)]}

            """
        let error = try #require(throws: ConfigurationError.self) {
            try ConfigurationDirectory(["discoverd.yaml": rules]).load()
        }
        #expect(error.lines.count == 1 && error.lines[0].contains(word), "\(error.lines)")
    }

    @Test(arguments: [
        "alias: [wiki, nas-Site-A]", "services: [{alias: nas-site-a}]",
        "services: [{host: nas-site-a.local, addresses: [10.0.0.1]}]",
        "services: [{name: x, type: _http._tcp, port: 80, alias: nas-site-a}]",
    ])
    func noNameIsAMirroredHostsToo(_ services: String) throws {
        let mirror = "mirror: [{from: {peer: site-a, address: 'a:1'}, to: home, types: [_ipp._tcp]}]\n"
        let error = try #require(throws: ConfigurationError.self) { try load(mirror + services) }
        #expect(error.lines.contains { $0.contains("another label in mirror") }, "\(error.lines)")
        #expect(try load(services).services.isEmpty == false)
    }

    @Test(arguments: [
        ("{a.b: '\(key)'}", "letters, digits"), ("{site-a: MD5:x}", "must be a key"),
        ("{site-a: 'SHA256:abc'}", "must be a key"),
        ("{site-a: '\(key)', site-b: '\(key)'}", "same key"), ("[site-a]", "mapping"),
    ])
    func isNoKey(_ peers: String, _ word: String) throws {
        let directory = try ConfigurationDirectory(["discoverd.yaml": "peers: \(peers)\n"])
        let error = try #require(throws: ConfigurationError.self) { try directory.load() }
        #expect(error.lines.contains { $0.contains(word) }, "\(error.lines)")
    }
}
