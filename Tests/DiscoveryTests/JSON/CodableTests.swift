import DNSSD
import DiscoveryJSON
import Foundation
import Testing

/// Foundation's encoder and decoder give and take what DiscoveryJSON writes: docs/contract/json.md has one form.
@Suite("Codable")
struct CodableTests {
    /// An interface that every machine has, so that its index comes back.
    private let lo = InterfaceNames().interface("lo")

    private func service() throws -> DiscoveredService {
        let port = try Port(9000)
        let (global, link) = (try #require(IPAddress("10.0.0.7")), try #require(IPAddress("fe80::1", on: lo)))
        let target = ServiceTarget(host: try HostName("h2.local"), priority: 1, weight: 2)
        return DiscoveredService(
            instance: ServiceInstance(
                name: ServiceName(observed: "Büro \u{1B} \"1\"/2 🖨"), type: try ServiceType("_witap._tcp")),
            interfaces: [lo], subtypes: ["_a"], state: .resolved, host: try HostName("h1.local"), port: port,
            txt: TXTRecord(strings: [Array("bin=".utf8) + [0xFF, 0x00], Array("flag".utf8), Array("path=/x".utf8)]),
            endpoints: [
                Endpoint(address: global, port: port, interface: lo, target: target),
                Endpoint(address: link, port: port, interface: lo),
            ], isOwn: true, isAuthenticated: true, withheld: "a reason")
    }

    private func written(_ body: (inout JSONWriter) -> Void) throws -> JSONValue {
        var writer = JSONWriter()
        body(&writer)
        return try JSONReader.read(writer.bytes).sorted
    }

    private func encoded(_ value: some Encodable) throws -> JSONValue {
        try JSONReader.read(Array(try JSONEncoder().encode(value))).sorted
    }

    private func decoded<Value: Codable>(_ value: Value) throws -> Value {
        try JSONDecoder().decode(Value.self, from: try JSONEncoder().encode(value))
    }

    @Test("A service: the line of browse, key for key, and back")
    func services() throws {
        let service = try service()
        #expect(try encoded(service) == written { $0.service(service, detail: .full) })
        #expect(try decoded(service) == service)
        let bare = DiscoveredService(instance: service.instance)
        #expect(try encoded(bare) == written { $0.service(bare, detail: .full) })
        #expect(try decoded(bare) == bare)
    }

    @Test("A service of browse without -r is read, too, and one of a later version")
    func identity() throws {
        let line = #"{"name":"tony","type":"_witap._tcp","domain":"local","interfaces":[],"later":{"x":[1,2.5,true]}}"#
        let service = try JSONDecoder().decode(DiscoveredService.self, from: Data(line.utf8))
        #expect(service == DiscoveredService(instance: try ServiceInstance(name: "tony", type: "_witap._tcp")))
    }

    @Test("Events are the lines of browse and watch")
    func events() throws {
        let service = try service()
        for event in [ServiceEvent.found(service), .changed(service), .lost(service), .settled, .degraded("why")] {
            #expect(try encoded(event) == written { $0.line(event, detail: .full) })
            #expect(try decoded(event) == event)
        }
        for state in [BackendState.available, .unavailable("a"), .lost("b"), .recovered] {
            #expect(try encoded(ServiceEvent.backend(state)) == written { $0.backendLine(state) })
            #expect(try decoded(ServiceEvent.backend(state)) == .backend(state))
        }
    }

    @Test("Parts: names are texts, a port is a number, a record and an endpoint are objects")
    func parts() throws {
        let service = try service()
        #expect(try encoded([service.instance.name]) == .array([.string(service.instance.name.text)]))
        #expect(try encoded([service.instance.type]) == .array([.string("_witap._tcp")]))
        #expect(try encoded([Domain.local]) == .array([.string("local")]))
        #expect(try encoded([try Port(80)]) == .array([.integer(80)]))
        #expect(try encoded(service.txt) == written { $0.txt(service.txt) })
        #expect(try encoded(service.endpoints[0]) == written { $0.endpoint(service.endpoints[0]) })
        #expect(try decoded(service.instance) == service.instance)
        #expect(try decoded(service.endpoints) == service.endpoints)
        #expect(try decoded(service.txt) == service.txt)
        #expect(try decoded([try HostName("h1.local")]) == [try HostName("h1.local")])
        #expect(try decoded(["a": Domain.local]) == ["a": .local])
    }

    @Test("A record with keys out of order has them sorted after decoding")
    func order() throws {
        let record: TXTRecord = ["b": "1", "a": "2"]
        #expect(try decoded(record) == ["a": "2", "b": "1"])
    }

    @Test(
        "What is none is refused, and ends nothing",
        arguments: [
            "[]", "{}", "1", "null", #"{"name":"","type":"_x._tcp","domain":"local","interfaces":[]}"#,
            #"{"name":"x","type":"x","domain":"local","interfaces":[]}"#,
            #"{"name":"x","type":"_x._tcp","domain":"..","interfaces":[]}"#,
            #"{"name":"x","type":"_x._tcp","domain":"local","interfaces":[],"state":"odd"}"#,
            #"{"name":"x","type":"_x._tcp","domain":"local","interfaces":[],"state":"found","endpoints":[{}]}"#,
            #"{"name":"x","type":"_x._tcp","domain":"local","interfaces":[],"state":"found","txt":{"a":1}}"#,
            String(repeating: "[", count: 400) + String(repeating: "]", count: 400),
        ])
    func hostile(text: String) {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(DiscoveredService.self, from: Data(text.utf8))
        }
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(ServiceEvent.self, from: Data(text.utf8)) }
    }

    @Test(
        "What is missing or wrong is named",
        arguments: [
            (#"{"name":"x","domain":"local"}"#, #"a service has no "type""#),
            (#"{"name":"x","type":"_a._tcp"}"#, #"a service has no "domain""#),
            (#"{"name":"x","type":"bad","domain":"local"}"#, #"the "type" of a service is none"#),
            (
                #"{"name":"x","type":"_a._tcp","domain":"local"}"#,
                #"a service has no "interfaces", or they are no texts"#
            ),
        ])
    func named(text: String, reason: String) {
        let error = #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(DiscoveredService.self, from: Data(text.utf8))
        }
        guard case .dataCorrupted(let context) = error else {
            Issue.record("\(error as Any)")
            return
        }
        #expect(context.debugDescription == reason)
    }

    @Test("Ports and names out of their range are refused", arguments: ["[0]", "[65536]", "[-1]", #"["80"]"#])
    func ports(text: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(Array<DNSSD.Port>.self, from: Data(text.utf8)) }
    }

    @Test("A record that has a key twice, as a literal can, cannot be encoded")
    func twice() {
        let record: TXTRecord = ["a": "1", "a": "2"]
        #expect(throws: EncodingError.self) { try JSONEncoder().encode(record) }
    }

    @Test("Any JSON is there and back, to the depth that is read")
    func values() throws {
        let text = #"{"a":[null,true,-1,2.5,"x\u0000",{}],"b":{"c":[]}}"#
        let value = try JSONReader.read(Array(text.utf8))
        #expect(try decoded(value).sorted == value.sorted)
        #expect(try encoded(value) == value.sorted)
    }
}

extension JSONValue {
    /// With the members of every object ordered by key.
    fileprivate var sorted: JSONValue {
        switch self {
        case .array(let values): .array(values.map(\.sorted))
        case .object(let members):
            .object(members.map { Member($0.key, $0.value.sorted) }.sorted { $0.key < $1.key })
        case .null, .bool, .integer, .double, .string: self
        }
    }
}
