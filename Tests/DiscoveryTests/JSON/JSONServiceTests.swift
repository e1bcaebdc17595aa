import DNSSD
import DiscoveryJSON
import Testing

@Suite("JSON lines, version 1: services")
struct JSONServiceTests {
    private let eth0 = NetworkInterface(index: 2, name: "eth0")

    private func service() throws -> DiscoveredService {
        let port = try Port(9000)
        let local = try #require(IPAddress("10.0.0.7"))
        let link = try #require(IPAddress("fe80::1%2"))
        return DiscoveredService(
            instance: ServiceInstance(name: try ServiceName("tony"), type: try ServiceType("_witap._tcp")),
            interfaces: [eth0],
            state: .resolved,
            host: try HostName("h1.local"),
            port: port,
            txt: TXTRecord(strings: ["path=/x", "flag"].map { Array($0.utf8) } + [Array("bin=".utf8) + [0xFF, 0x00]]),
            endpoints: [local, link].map { Endpoint(address: $0, port: port, interface: eth0) }
        )
    }

    private func line(_ event: ServiceEvent, _ detail: ServiceDetail) -> String {
        var writer = JSONWriter()
        writer.line(event, detail: detail)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test("A resolved service is the contract's example, to the byte")
    func full() throws {
        let expected =
            #"{"v":1,"event":"added","service":{"name":"tony","type":"_witap._tcp","domain":"local","subtypes":[],"#
            + #""host":"h1.local","port":9000,"txt":{"path":"/x","flag":null,"bin":{"base64":"/wA="}},"endpoints":["#
            + #"{"address":"10.0.0.7","port":9000,"family":"ipv4","interface":"eth0"},"#
            + #"{"address":"fe80::1%eth0","port":9000,"family":"ipv6","interface":"eth0"}],"#
            + #""interfaces":["eth0"],"state":"resolved"}}"# + "\n"
        #expect(line(.found(try service()), .full) == expected)
    }

    @Test("Without resolving only the identity is written")
    func identity() throws {
        let expected =
            #"{"v":1,"event":"removed","service":{"name":"tony","type":"_witap._tcp","domain":"local","#
            + #""interfaces":["eth0"]}}"# + "\n"
        #expect(line(.lost(try service()), .identity) == expected)
    }

    @Test("Unknown values are null", arguments: [DiscoveredService.State.unreachable, .found, .unavailable])
    func unknown(state: DiscoveredService.State) throws {
        let bare = DiscoveredService(instance: try service().instance, state: state)
        let expected =
            #"{"v":1,"event":"updated","service":{"name":"tony","type":"_witap._tcp","domain":"local","subtypes":[],"#
            + #""host":null,"port":null,"txt":{},"endpoints":[],"interfaces":[],"state":"\#(state.rawValue)"}}"# + "\n"
        #expect(line(.changed(bare), .full) == expected)
    }

    @Test("RFC 6763 §6.4: no value, an empty value and bytes are distinct; keys keep their case")
    func txtValues() {
        let strings: [[UInt8]] = [
            Array("Flag".utf8), Array("empty=".utf8), Array("raw=".utf8) + [0xC3], Array("k==".utf8),
        ]
        var writer = JSONWriter()
        writer.txt(TXTRecord(strings: strings))
        let text = String(decoding: writer.bytes, as: UTF8.self)
        #expect(text == #"{"Flag":null,"empty":"","raw":{"base64":"ww=="},"k":"="}"#)
    }

    @Test("A TXT record that was cut says so")
    func truncated() throws {
        var service = try service()
        service.txt = TXTRecord(strings: (0..<300).map { Array("k\($0)".utf8) })
        #expect(line(.found(service), .full).hasSuffix(#""state":"resolved","truncated":true}}"# + "\n"))
    }

    @Test("An interface that was recreated under its name is named once")
    func interfaceNames() throws {
        var service = try service()
        service.interfaces.append(NetworkInterface(index: 9, name: "eth0"))
        #expect(line(.found(service), .identity).contains(#""interfaces":["eth0"]"#))
    }

    @Test("Hostile names stay on their line")
    func hostile() throws {
        var service = try service()
        service = DiscoveredService(
            instance: ServiceInstance(
                name: ServiceName(observed: "a\"}\n{\u{1B}]0;x\u{07}\u{202E}"),
                type: service.instance.type
            )
        )
        let text = line(.found(service), .identity)
        #expect(text.contains(#""name":"a\"}\n{\u001b]0;x\u0007\u202e""#))
        #expect(text.utf8.count(where: { $0 < 0x20 }) == 1)
    }
}
