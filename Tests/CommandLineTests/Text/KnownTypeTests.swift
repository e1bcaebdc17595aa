import DNSSD
import DiscoveryJSON
import Testing

@testable import DiscoverdCommands

@Suite("types that people meet") struct KnownTypeTests {
    @Test("every entry is a type that can be published, once, with a name of its own")
    func entries() throws {
        for entry in KnownType.all {
            #expect(try ServiceType(entry.type).description == entry.type)
            #expect(!entry.title.isEmpty)
        }
        #expect(Set(KnownType.all.map(\.type)).count == KnownType.all.count)
        #expect(Set(KnownType.all.map(\.title)).count == KnownType.all.count)
    }

    @Test(
        "a port suggests the type whose programs usually listen there",
        arguments: [
            (80, "_http._tcp"), (8080, "_http._tcp"), (443, "_https._tcp"), (22, "_ssh._tcp"), (631, "_ipp._tcp"),
            (9100, "_pdl-datastream._tcp"),
        ] as [(UInt16, String)])
    func ports(_ port: UInt16, _ type: String) { #expect(KnownType.suggested(by: port)?.type == type) }

    @Test(
        "a type with a slip, or over the other transport, was meant as one of the table; a type of one's own was not",
        arguments: [
            ("_htp._tcp", "_http._tcp"), ("_HTTP._udp", "_http._tcp"), ("_prnter._tcp", "_printer._tcp"),
            ("_x._sub._htpt._tcp", "_http._tcp"), ("_domain._tcp", "_domain._udp"), ("_http._tcp", nil),
            ("_witap._tcp", nil), ("_lanchat._tcp", nil), ("_x._tcp", nil), ("_tcp", nil), ("", nil),
        ] as [(String, String?)])
    func meant(_ type: String, _ wanted: String?) { #expect(KnownType.meant(by: type)?.type == wanted) }

    @Test("other ports suggest none") func none() {
        #expect(KnownType.suggested(by: 9000) == nil)
        #expect(KnownType.of("_witap._tcp") == nil)
        #expect(KnownType.of("_HTTP._tcp")?.title == "Web site")
    }
}
