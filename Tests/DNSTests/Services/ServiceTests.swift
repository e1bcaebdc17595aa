import DNSSD
import Testing

@Suite("Service and Port")
struct ServiceTests {
    @Test func fromText() throws {
        let service = try OfferedService(
            name: "tony",
            type: "_p._sub._http._tcp.local",
            port: 9000,
            txt: TXTRecord(["path": "/x"]),
            subtypes: ["q", "_P", "_q"]
        )
        #expect(service.instance.fullName == "tony._http._tcp.local")
        #expect(
            service.port.rawValue == 9000 && service.subtypes == ["_p", "_q"] && service.txt.text(for: "path") == "/x"
        )
    }

    @Test("The error is that of the part that breaks a rule")
    func errors() {
        let refusals = [
            refusal { () throws(DiscoveryError) in try OfferedService(name: "", type: "_http._tcp", port: 1) },
            refusal { () throws(DiscoveryError) in try OfferedService(name: "a", type: "_http", port: 1) },
            refusal { () throws(DiscoveryError) in
                try OfferedService(name: "a", type: "_http._tcp", domain: "", port: 1)
            },
            refusal { () throws(DiscoveryError) in try OfferedService(name: "a", type: "_http._tcp", port: 0) },
            refusal { () throws(DiscoveryError) in
                try OfferedService(name: "a", type: "_http._tcp", port: 1, subtypes: [""])
            },
        ]
        #expect(
            refusals.map { $0?.code } == [
                .invalidServiceName, .invalidServiceType, .invalidDomain, .invalidPort, .invalidServiceType,
            ]
        )
    }

    @Test("RFC 6763 §8: port 0 offers nothing", arguments: [0, -1, 65_536, Int.min, Int.max])
    func ports(number: Int) {
        #expect(refusal { () throws(DiscoveryError) in try Port(number) }?.code == .invalidPort)
    }

    @Test func portLimits() throws {
        #expect(try Port(1) < Port(65_535))
        #expect(Port(rawValue: 0) == nil)
    }
}
