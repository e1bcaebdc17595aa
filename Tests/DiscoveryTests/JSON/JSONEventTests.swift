import DNSSD
import DiscoveryJSON
import Testing

@Suite("JSON lines, version 1: events")
struct JSONEventTests {
    private func text(_ body: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        body(&writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test(
        "Events without a service",
        arguments: [
            (ServiceEvent.settled, #"{"v":1,"event":"settled"}"# + "\n"),
            (.backend(.lost("gone")), #"{"v":1,"event":"backend","state":"lost"}"# + "\n"),
            (.backend(.recovered), #"{"v":1,"event":"backend","state":"recovered"}"# + "\n"),
            (.degraded("full"), #"{"v":1,"event":"degraded","reason":"full"}"# + "\n"),
            (.backend(.available), ""),
            (.backend(.unavailable("not yet")), ""),
        ]
    )
    func events(event: ServiceEvent, expected: String) {
        #expect(text { $0.line(event, detail: .full) } == expected)
    }

    @Test("A renamed publication is the contract's example")
    func published() throws {
        let service = OfferedService(
            name: try ServiceName("tony"), type: try ServiceType("_witap._tcp"), port: try Port(9000))
        let expected =
            #"{"v":1,"event":"published","name":"tony #2","wanted":"tony","type":"_witap._tcp","domain":"local","#
            + #""port":9000,"state":"established"}"# + "\n"
        #expect(
            text { $0.publishedLine(service, name: ServiceName(observed: "tony #2"), state: "established") } == expected
        )
    }

    @Test("Why a publication waits is said")
    func waiting() throws {
        let service = OfferedService(
            name: try ServiceName("tony"), type: try ServiceType("_witap._tcp"), port: try Port(9000))
        let line = text { $0.publishedLine(service, name: service.name, state: "waiting", reason: "no bus") }
        #expect(line.hasSuffix(#""state":"waiting","reason":"no bus"}"# + "\n"))
    }
}
