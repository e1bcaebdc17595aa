import Testing

@testable import AvahiEngine

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
