import DNSSD
import TerminalUI
import Testing

/// What a picker shows.
@Suite("Service list")
struct ServiceListTests {
    private func service(_ name: String) throws -> DiscoveredService {
        DiscoveredService(
            instance: ServiceInstance(
                name: ServiceName(observed: name), type: try ServiceType("_witap._tcp")))
    }

    private func list(_ names: [String]) throws -> ServiceList {
        var list = ServiceList()
        list.update(try names.map { .found(try service($0)) })
        return list
    }

    private func names(_ list: ServiceList) -> [String] { list.services.map(\.instance.name.text) }

    @Test("sorted by name; the selection stays on its service, and moves to a neighbour when that goes")
    func selection() throws {
        var list = try list(["b", "d", "c"])
        #expect(names(list) == ["b", "c", "d"])
        #expect(list.selected?.instance.name.text == "b")
        list.move(by: 1)
        list.update([.found(try service("a")), .found(try service("bb"))])
        #expect(names(list) == ["a", "b", "bb", "c", "d"])
        #expect(list.selected?.instance.name.text == "c")
        list.update([.lost(try service("c"))])
        #expect(list.selected?.instance.name.text == "d")
        list.move(by: 99)
        list.move(by: -99)
        #expect(list.selected?.instance.name.text == "a")
        list.update(try ["a", "b", "bb", "d"].map { .lost(try service($0)) })
        #expect(list.selected == nil)
        list.move(by: 1)
    }

    @Test("our own name is not shown, whatever it becomes; the taken name then belongs to another")
    func own() throws {
        for renamed in ["tony #2", "tony (2)"] {
            var list = try list(["tony", renamed, "anna"])
            list.hide([ServiceName(observed: "tony")])
            #expect(names(list) == ["anna", renamed])
            list.hide([ServiceName(observed: renamed)])
            #expect(names(list) == ["anna", "tony"])
            #expect(list.find(renamed) == nil)
        }
    }

    @Test("found by name, by escaped name, by number, by the beginning of one name")
    func finding() throws {
        let list = try list(["anna", "Tony's Mac", "2", "x\u{1B}y", "anton"])
        #expect(list.find("anna")?.instance.name.text == "anna")
        #expect(list.find("tony")?.instance.name.text == "Tony's Mac")
        #expect(list.find("2")?.instance.name.text == "2")
        #expect(list.find("3")?.instance.name.text == "anna")
        #expect(list.find(#"x\u{1B}y"#)?.instance.name.text == "x\u{1B}y")
        #expect(list.find("an") == nil)
        #expect(list.find("") == nil)
        #expect(list.find("99") == nil)
    }
}
