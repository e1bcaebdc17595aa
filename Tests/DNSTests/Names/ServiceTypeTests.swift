import DNSSD
import Testing

@Suite("ServiceType")
struct ServiceTypeTests {
    @Test(
        "RFC 6763 §7: the forms a person writes",
        arguments: [
            ("_witap._tcp", "_witap._tcp"), ("_witap._tcp.", "_witap._tcp"), ("_witap._tcp.local", "_witap._tcp"),
            ("_witap._tcp.LOCAL.", "_witap._tcp"), ("witap", "_witap._tcp"), ("_x._udp", "_x._udp"),
            ("_HTTP._TCP", "_HTTP._tcp"), ("_tcp._tcp", "_tcp._tcp"), ("_sub._tcp", "_sub._tcp"),
            ("_printer._sub._http._tcp", "_printer._sub._http._tcp"),
            ("printer._SUB._http._tcp.local.", "printer._sub._http._tcp"),
            ("a\\.b._sub._http._tcp", "a\\.b._sub._http._tcp"),
            ("_sub._sub._http._tcp", "_sub._sub._http._tcp"), ("_abcdefghijklmn1._tcp", "_abcdefghijklmn1._tcp"),
            ("_1a-b-2._udp", "_1a-b-2._udp"),
        ]
    )
    func accepted(text: String, description: String) throws {
        let type = try ServiceType(text)
        #expect(type.description == description)
        #expect(try ServiceType(type.description) == type)
        #expect(ServiceType(observed: type.description) == type)
    }

    @Test func parts() throws {
        let type = try ServiceType("_printer._sub._http._udp")
        #expect(type.name == "_http" && type.transport == .udp && type.subtype == "_printer")
        #expect(type.base == (try ServiceType("_http._udp")))
    }

    @Test(
        "RFC 6335 §5.1: names that are refused, and why",
        arguments: [
            ("_abcdefghijklmnop._tcp", "16 characters"), ("_123._tcp", "no letter"), ("_-a._tcp", "hyphen"),
            ("_a-._tcp", "hyphen"), ("_a--b._tcp", "two hyphens"), ("_a b._tcp", "\" \""), ("_a_b._tcp", "\"_\""),
            ("_ü._tcp", "\"ü\""), ("_._tcp", "empty"), ("_a\\.b._tcp", "\".\""), ("wi tap", "\" \""),
            ("_a\u{1B}b._tcp", "\\u{1B}"),
            ("_a\n._tcp", "\\u{A}"),
        ]
    )
    func refusedNames(text: String, fragment: String) {
        expectRefusal(text, fragment)
    }

    @Test(
        "RFC 6763 §7: forms that are refused, and why",
        arguments: [
            ("", "empty"), (".", "empty"), ("_witap", "no transport"), ("_witap._sctp", "_sctp"),
            ("witap._tcp", "underscore"),
            ("_witap._tcp.example.org", "--domain"), ("_witap._tcp.local.local", "--domain"),
            ("_a._sub._http", "a subtype is written as"),
            ("_a._sub._http._sctp", "_sctp"), ("_a._sub", "neither"), ("a..b", "label is empty"),
            ("_a._tcp..", "label is empty"),
            ("\\256._tcp", "255"), ("a\\", "backslash"), ("\u{7}._sub._http._tcp", "control character"),
            ("\\255._sub._http._tcp", "UTF-8"), ("\u{FFFF}._sub._http._tcp", "not a character"),
        ]
    )
    func refusedForms(text: String, fragment: String) {
        expectRefusal(text, fragment)
    }

    private func expectRefusal(_ text: String, _ fragment: String) {
        let error = refusal { () throws(DiscoveryError) in try ServiceType(text) }
        #expect(error?.code == .invalidServiceType)
        #expect(error?.message.contains(fragment) == true, "\(error?.message ?? "accepted")")
        #expect(error.map { isSafe($0.message) } == true)
    }

    @Test(
        "who looks for a type may name what others publish in breach of the rules, and is told which it is",
        arguments: [
            ("_ibisip_http._tcp", "_ibisip_http._tcp", "RFC 6335"), ("_tivo-videostream._tcp.local.", nil, "15"),
            ("_a._sub._b c._udp", "_a._sub._b c._udp", "RFC 6335"), ("foo._tcp", "foo._tcp", "underscore"),
            ("_x._tcp", "_x._tcp", "two letters"), ("_\\027._tcp.LOCAL", "_\\027._tcp", "RFC 6335"),
            ("_http._tcp", "_http._tcp", nil), ("http", "_http._tcp", nil),
        ] as [(String, String?, String?)])
    func sought(text: String, description: String?, rule: String?) throws {
        let type = try ServiceType(sought: text)
        if let description { #expect(type.description == description) }
        #expect((type.breach == nil) == (rule == nil))
        if let rule { #expect(type.breach?.message.contains(rule) == true, "\(type.breach?.message ?? "")") }
    }

    @Test(
        "what DNS cannot carry, and what is no type, no one can look for",
        arguments: [
            "", "_a", "wi tap", "a_b", "_a._sctp", "_a._tcp.example.org", "_\\255._tcp", "a.b.c._tcp",
            "_" + String(repeating: "a", count: 63) + "._tcp",
        ])
    func notSought(text: String) {
        #expect(refusal { () throws(DiscoveryError) in try ServiceType(sought: text) }?.code == .invalidServiceType)
    }

    @Test(
        "Types that only Avahi accepts are shown, and go back to it unchanged in meaning",
        arguments: [
            ("_foo\\.bar._tcp", "_foo.bar", "_foo\\.bar._tcp"), ("_foo\\032bar._tcp", "_foo bar", "_foo bar._tcp"),
            ("_a_b._UDP", "_a_b", "_a_b._udp"), ("_\\195\\188._tcp", "_ü", "_ü._tcp"),
            ("_\\027\\091._tcp", "_\u{1B}[", "_\\027[._tcp"), ("\\\\._tcp", "\\", "\\\\._tcp"),
            ("_\\226\\128\\174x._tcp", "_\u{202E}x", "_\\226\\128\\174x._tcp"),
            ("_abcdefghijklmnopqrstuvwxyz._tcp", "_abcdefghijklmnopqrstuvwxyz", "_abcdefghijklmnopqrstuvwxyz._tcp"),
        ]
    )
    func observed(text: String, name: String, description: String) throws {
        let type = try #require(ServiceType(observed: text))
        #expect(same(type.name, name))
        #expect(type.description == description)
        #expect(isSafe(type.description))
        #expect(ServiceType(observed: type.description) == type)
    }

    @Test(
        "A text that is not a type is not observed",
        arguments: [
            "", ".", "_a", "_tcp", "_a._sctp", "a.b._tcp", "_a._tcp.local", "_\\255._tcp", "_x._sub._tcp",
            "_" + String(repeating: "a", count: 63) + "._tcp",
        ]
    )
    func notObserved(text: String) {
        #expect(ServiceType(observed: text) == nil)
    }

    @Test func everyObservedLabelRoundTrips() throws {
        var generator = SeededGenerator(seed: 2)
        for name in (hostileNames + (0..<2000).map { _ in generator.text(limit: 63) }) where !name.isEmpty {
            let instance = ServiceInstance(name: ServiceName(observed: name), type: try ServiceType("_a._tcp"))
            let label = try #require(instance.fullName.utf8.count > 14 ? String(instance.fullName.dropLast(14)) : nil)
            let type = try #require(ServiceType(observed: "\(label)._sub.\(label)._udp"))
            #expect(same(type.name, name) && same(type.subtype, name))
            let again = try #require(ServiceType(observed: type.description))
            #expect(same(again.name, name) && same(again.subtype, name))
            #expect(isSafe(type.description))
        }
    }

    @Test("RFC 4343: letters count once, whatever their case")
    func equality() throws {
        #expect(try ServiceType("_HTTP._tcp") == ServiceType("_http._TCP"))
        #expect(try ServiceType("_http._tcp").hashValue == ServiceType("_Http._tcp").hashValue)
        #expect(try ServiceType("_http._tcp") != ServiceType("_http._udp"))
        #expect(try ServiceType("_a._sub._http._tcp") != ServiceType("_http._tcp"))
    }

    @Test func order() throws {
        let sorted = try ["_A._tcp", "_a._udp", "_p._sub._a._udp", "_B._tcp", "_c._tcp"].map { text in
            try ServiceType(text)
        }
        #expect(sorted.reversed().sorted() == sorted)
        #expect(try !(ServiceType("_A._tcp") < ServiceType("_a._tcp")))
    }

    @Test("RFC 6763 §7.1: subtypes to publish")
    func subtypes() throws {
        #expect(try ServiceType.validatedSubtype("printer") == "_printer")
        #expect(try ServiceType.validatedSubtype("_printer") == "_printer")
        #expect(try ServiceType.validatedSubtype("Büro 2") == "_Büro 2")
        #expect(try ServiceType("_http._tcp").withSubtype("a.b").description == "_a\\.b._sub._http._tcp")
        #expect(try ServiceType.validatedSubtype(String(repeating: "x", count: 62)).utf8.count == 63)
        for bad in ["", "_", String(repeating: "x", count: 63), "a\nb", "\u{FFFE}", "_p._sub._http._tcp"] {
            let error = refusal { () throws(DiscoveryError) in try ServiceType.validatedSubtype(bad) }
            #expect(error?.code == .invalidServiceType)
        }
    }

    @Test("RFC 6335 §5.1: whatever the identifier, the type is valid")
    func identifiers() throws {
        #expect(ServiceType(identifier: "WiTap")?.description == "_witap._tcp")
        #expect(ServiceType(identifier: "com.example.WiTap 2", transport: .udp)?.description == "_com-example-wit._udp")
        #expect(ServiceType(identifier: "--a..ü b--")?.description == "_a-b._tcp")
        #expect(ServiceType(identifier: "abcdefghijklmn.x")?.description == "_abcdefghijklmn._tcp")
        #expect(ServiceType(identifier: "12.3") == nil && ServiceType(identifier: "") == nil)
        var generator = SeededGenerator(seed: 11)
        for text in absurdTexts + (0..<1000).map({ _ in generator.text(limit: 30) }) {
            guard let type = ServiceType(identifier: text) else { continue }
            #expect(try ServiceType(type.description) == type)
        }
    }

    @Test(arguments: absurdTexts) func nothingTraps(text: String) {
        if let error = refusal({ () throws(DiscoveryError) in try ServiceType(text) }) {
            #expect(isSafe(error.message) && error.message.utf8.count < 2500)
        }
        if let type = ServiceType(observed: text) { #expect(ServiceType(observed: type.description) == type) }
        _ = refusal { () throws(DiscoveryError) in try ServiceType.validatedSubtype(text) }
    }
}
