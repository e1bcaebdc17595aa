import CommandText
import DNSSD
import Testing

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

    @Test("other ports suggest none") func none() {
        #expect(KnownType.suggested(by: 9000) == nil)
        #expect(KnownType.of("_witap._tcp") == nil)
        #expect(KnownType.of("_HTTP._tcp")?.title == "Web site")
    }
}
