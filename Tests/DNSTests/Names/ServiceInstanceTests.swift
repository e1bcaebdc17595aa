import DNSSD
import Testing

@Suite("ServiceInstance")
struct ServiceInstanceTests {
    @Test(
        "RFC 6763 §4.3: dots, backslashes and characters unsafe for a terminal are escaped",
        arguments: [
            ("tony", "tony._ipp._tcp.local"), ("Büro.2", "Büro\\.2._ipp._tcp.local"),
            ("a\\b", "a\\\\b._ipp._tcp.local"),
            ("Dr. Pepper", "Dr\\. Pepper._ipp._tcp.local"), ("\u{1B}\n\u{7F}", "\\027\\010\\127._ipp._tcp.local"),
            ("\\032", "\\\\032._ipp._tcp.local"), ("\u{202E}", "\\226\\128\\174._ipp._tcp.local"),
        ]
    )
    func fullName(name: String, fullName: String) throws {
        let instance = ServiceInstance(name: ServiceName(observed: name), type: try ServiceType("_ipp._tcp"))
        #expect(instance.fullName == fullName)
        #expect(try ServiceInstance(fullName: fullName) == instance)
        #expect(try ServiceInstance(fullName: fullName + ".") == instance)
        #expect(ServiceInstance.looksLikeFullName(fullName))
    }

    @Test func everyNameRoundTrips() throws {
        var generator = SeededGenerator(seed: 4)
        let types = try [ServiceType("_a._tcp"), #require(ServiceType(observed: "_x\\.y\\032\\027._udp"))]
        let domains = try [Domain.local, Domain("a\\.b.example.org"), #require(Domain(observed: "\\010._tcp.x"))]
        for name in hostileNames + (0..<3000).map({ _ in generator.text(limit: 63) }) where !name.isEmpty {
            let instance = ServiceInstance(
                name: ServiceName(observed: name),
                type: types.randomElement(using: &generator) ?? types[0],
                domain: domains.randomElement(using: &generator) ?? .local
            )
            #expect(isSafe(instance.fullName))
            #expect(ServiceInstance.looksLikeFullName(instance.fullName))
            let again = try ServiceInstance(fullName: instance.fullName)
            #expect(again == instance && again.fullName == instance.fullName)
        }
    }

    @Test("The longest name of all")
    func longest() throws {
        let name = ServiceName(observed: String(repeating: "\u{1B}", count: 63))
        let type = try #require(ServiceType(observed: String(repeating: "\\027", count: 63) + "._tcp"))
        let domain = String(repeating: String(repeating: "\\027", count: 63) + ".", count: 3)
        let instance = ServiceInstance(name: name, type: type, domain: try #require(Domain(observed: domain)))
        #expect(try ServiceInstance(fullName: instance.fullName) == instance)
    }

    @Test("RFC 6763 §4.3: forms a person writes")
    func forms() throws {
        #expect(try ServiceInstance(fullName: "tony._witap._tcp").domain == .local)
        #expect(try ServiceInstance(fullName: "tony._witap._TCP.Example.ORG.").domain == Domain("example.org"))
        #expect(try ServiceInstance(fullName: "\\084ony._witap._tcp.local").name.text == "Tony")
    }

    @Test(
        "Names that are no full names are refused with the rule",
        arguments: [
            "", "tony", "tony.local", "_witap._tcp.local", "a.b._witap._tcp.local", "tony._witap._sctp.local", "..",
            "\\",
            "_http._tcp._http._tcp.local",
        ]
    )
    func refused(text: String) {
        let error = refusal { () throws(DiscoveryError) in try ServiceInstance(fullName: text) }
        #expect(error?.code == .invalidServiceName)
        #expect(error.map { $0.message.contains("RFC") && isSafe($0.message) } == true)
    }

    @Test(
        "Telling names from full names",
        arguments: [
            ("tony", false), ("tony.local", false), ("Dr. Pepper", false), ("_witap._tcp.local", false), ("a\\", false),
            ("tony._witap._tcp", true), ("Dr. Pepper._witap._tcp.local", true), ("x\\._a\\._tcp", false), ("", false),
        ]
    )
    func looksLikeFullName(text: String, expected: Bool) {
        #expect(ServiceInstance.looksLikeFullName(text) == expected)
    }

    @Test func order() throws {
        let sorted = try ["z._a._tcp.a", "a._a._tcp", "b._a._tcp", "a._b._tcp"].map { text in
            try ServiceInstance(fullName: text)
        }
        #expect(sorted.reversed().sorted() == sorted)
    }

    @Test(arguments: absurdTexts) func nothingTraps(text: String) {
        _ = ServiceInstance.looksLikeFullName(text)
        if let error = refusal({ () throws(DiscoveryError) in try ServiceInstance(fullName: text) }) {
            #expect(isSafe(error.message) && error.message.utf8.count < 2500)
        }
    }
}
