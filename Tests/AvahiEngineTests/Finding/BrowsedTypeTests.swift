import DNSSD
import Testing

@testable import AvahiEngine

@Suite("what a PTR record of a type leads to")
struct BrowsedTypeTests {
    @Test("is a service of this type only in this type and domain")
    func includes() throws {
        var plain = BrowsedType(try ServiceType("_http._tcp"), in: .local)
        var sub = BrowsedType(try ServiceType("_printer._sub._http._tcp"), in: .local)
        for _ in 0..<2 {
            for (type, domain) in [
                ("_ipp._tcp", "local"), ("_http._udp", "local"), ("_http._tcp", "example.com"), ("_tcp", "local"),
                ("", ""), ("_http._tcp", ""), ("_printer._sub._http._tcp", "local"),
            ] {
                let isTold = plain.includes(type: type, domain: domain) || sub.includes(type: type, domain: domain)
                #expect(!isTold, "\(type) \(domain)")
            }
            for type in ["_http._tcp", "_HTTP._tcp", "_hTTp._TCP"] {
                let isTold = plain.includes(type: type, domain: "local") && sub.includes(type: type, domain: "Local")
                #expect(isTold, "\(type)")
            }
        }
    }
}

@Suite("names of interfaces")
struct InterfaceRenamesTests {
    @Test("one that has another name is noticed once; those that come and go are not")
    func renamed() {
        var names = InterfaceRenames([1: "lo", 2: "eth0"])
        #expect(names.sinceLast([1: "lo", 2: "eth0", 3: "eth1"]).isEmpty)
        #expect(names.sinceLast([1: "lo", 2: "wan0", 3: "eth1"]) == [2])
        #expect(names.sinceLast([1: "lo", 2: "wan0"]).isEmpty)
        #expect(names.sinceLast([1: "lo", 2: "eth1", 3: "wan0"]) == [2])
    }
}
