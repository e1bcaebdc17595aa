import DNSSD
import Testing

@Suite("Values in a log")
struct DescriptionTests {
    private let eth0 = NetworkInterface(index: 2, name: "eth0")

    @Test("A service says who it is, and where")
    func service() throws {
        let port = try Port(9000)
        let (global, link) = (try #require(IPAddress("10.0.0.7")), try #require(IPAddress("fe80::1%2")))
        var service = DiscoveredService(instance: try ServiceInstance(name: "a.b", type: "_witap._tcp"))
        #expect("\(service)" == #"a\.b._witap._tcp.local (found)"#)
        service.state = .resolved
        service.host = try HostName("h1.local")
        service.port = port
        service.endpoints = [global, link, link].map { Endpoint(address: $0, port: port, interface: eth0) }
        #expect("\(service)" == #"a\.b._witap._tcp.local at h1.local:9000 (10.0.0.7, fe80::1%eth0)"#)
        #expect("\(ServiceEvent.found(service))" == "found \(service)")
        #expect("\(ServiceEvent.lost(service))" == #"lost a\.b._witap._tcp.local"#)
        #expect(service.id == service.instance && service.instance.id == service.instance)
    }

    @Test("Nothing of the network reaches a terminal as it is")
    func escaped() {
        let name = ServiceName(observed: "x\u{1B}[2J")
        let strings = [Array("k=\u{1B}]0;".utf8)]
        #expect(!"\(name)".unicodeScalars.contains("\u{1B}"))
        #expect(!"\(TXTRecord(strings: strings))".unicodeScalars.contains("\u{1B}"))
        #expect(!"\(NetworkInterface(index: 1, name: "\u{1B}"))".unicodeScalars.contains("\u{1B}"))
        #expect(!"\(ServiceEvent.degraded("\u{1B}"))".unicodeScalars.contains("\u{1B}"))
    }

    @Test("One spelling for the text of a name")
    func texts() throws {
        let instance = try ServiceInstance(name: "tony", type: "_witap._tcp", domain: "example.org.")
        #expect(instance.name.text == "tony" && instance.type.text == "_witap._tcp")
        let host = try HostName("h1.local.")
        #expect(instance.domain.text == "example.org" && host.text == "h1.local")
        #expect(throws: DiscoveryError.self) { try ServiceInstance(name: "", type: "_witap._tcp") }
        #expect(throws: DiscoveryError.self) { try ServiceInstance(name: "x", type: "_witap") }
    }
}
