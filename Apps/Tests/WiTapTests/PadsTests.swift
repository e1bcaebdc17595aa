import CommandText
import DNSSD
import Discovery
import TerminalUI
import Testing
import WiTap

/// One byte per touch.
@Suite("WiTap")
struct PadsTests {
    @Test("all 256 bytes: 1 to 9 go up, 0x81 to 0x89 down, and the rest is nothing")
    func bytes() {
        for byte in UInt8.min...UInt8.max {
            let touch = Touch(byte: byte)
            switch byte {
            case 1...9: #expect(touch.map { !$0.isDown && $0.pad.number == Int(byte) } == true)
            case 0x81...0x89: #expect(touch.map { $0.isDown && $0.pad.number == Int(byte & 0x7F) } == true)
            default: #expect(touch == nil)
            }
            if let touch { #expect(touch.byte == byte) }
        }
    }

    @Test("a pad that is down goes down once, and up once")
    func pads() throws {
        var pads = Pads()
        let five = try #require(Pad(5))
        let changes = [Touch.up(five), .down(five), .down(five)].map { pads.touched($0) }
        #expect(changes == [false, true, false])
        #expect(pads.down == [five])
        let isUp = pads.touched(.up(five))
        #expect(isUp)
        #expect(pads.down.isEmpty)
    }

    @Test(
        "the screen shows each pad, and a click on it finds it, whatever the size", arguments: [30, 40, 80, 200],
        [13, 24, 70])
    func screen(_ columns: Int, _ rows: Int) throws {
        var theirs = Pads()
        let nine = try #require(Pad(9))
        theirs.touched(.down(nine))
        let view = PadsView(mine: Pads(), theirs: theirs, own: "h1", opponent: "h2")
        let size = ScreenSize(columns: columns, rows: rows)
        var canvas = Canvas(size)
        view.draw(on: &canvas)
        let lines = canvas.text
        #expect(lines.contains { $0.contains("h1 (you, ===) and h2 (***)") })
        var found: Set<Pad> = []
        for (row, line) in lines.enumerated() where line.contains("│") {
            for (column, character) in line.enumerated() {
                guard let pad = character.wholeNumberValue.flatMap({ Pad($0) }) else { continue }
                #expect(PadsView.pad(column, row, size) == pad, "\(lines)")
                found.insert(pad)
            }
        }
        #expect(found.count == 9, "\(lines)")
        #expect(lines.filter { $0.contains("└") }.count == 3)
        #expect(lines.contains { $0.contains("*") && $0.contains("9") && !$0.contains("you") })
        #expect(PadsView.pad(0, 0, size) == nil)
    }

    @Test("the player at an address: the only one there, the host of several, and no one else")
    func neighbours() throws {
        var neighbours = Neighbours()
        func name(at text: String) throws -> String? { neighbours.name(at: try #require(IPAddress(text))) }
        neighbours.update(try player("anna", "h1.local", "10.0.0.1", "fe80::1%2"))
        neighbours.update(try player("bob", "h2.local", "10.0.0.2"))
        neighbours.update(try player("carl", "h2.local", "10.0.0.2"))
        #expect(try name(at: "fe80::1") == "anna")
        #expect(try name(at: "fe80::1%2") == "anna")
        #expect(try name(at: "fe80::1%3") == nil)
        #expect(try name(at: "::ffff:10.0.0.1") == "anna")
        #expect(try name(at: "10.0.0.2") == "h2")
        #expect(try name(at: "10.0.0.3") == nil)
        // It leaves: one address after another, and then it is gone.
        neighbours.update(try player("anna", "h1.local", "10.0.0.1"))
        neighbours.update(.lost(try service("anna", "h1.local", "10.0.0.1")))
        #expect(try name(at: "fe80::1") == "anna")
        // It moved; the old address does not belong to it any more.
        neighbours.update(try player("anna", "h1.local", "10.0.0.9"))
        #expect(try name(at: "10.0.0.1") == nil)
        for number in 0..<1000 { neighbours.update(try player("p\(number)", "h3.local", "10.0.1.1")) }
        #expect(try name(at: "10.0.0.9") == nil)
    }

    @Test("the only possible player: the single one without a known address of that family, other than oneself")
    func onlyOne() throws {
        var neighbours = Neighbours()
        let own = ServiceName(observed: "me")
        func name(at text: String) throws -> String? {
            neighbours.onlyOne(perhapsAt: try #require(IPAddress(text)), unless: own)
        }
        neighbours.update(try player("me", "me.local"))
        #expect(try name(at: "fe80::1%2") == nil)
        neighbours.update(try player("anna", "h1.local"))
        #expect(try name(at: "fe80::1%2") == "anna" && name(at: "10.0.0.1") == "anna")
        neighbours.update(try player("bob", "h2.local"))
        #expect(try name(at: "fe80::1%2") == nil)
        neighbours.update(try player("bob", "h2.local", "10.0.0.2"))
        #expect(try name(at: "fe80::1%2") == nil && name(at: "10.0.0.1") == "anna")
        neighbours.update(try player("bob", "h2.local", "10.0.0.2", "fe80::2%2"))
        #expect(try name(at: "fe80::1%2") == "anna" && name(at: "2001:db8::1") == nil)
        // A browser that does not resolve removes nothing; a player that was never resolved and is gone is forgotten.
        neighbours.update(try player("bob", "h2.local"))
        #expect(try name(at: "fe80::1%2") == "anna")
        neighbours.update(.lost(try service("anna", "h1.local")))
        #expect(try name(at: "fe80::1%2") == nil)
    }

    private func player(_ name: String, _ host: String, _ addresses: String...) throws -> ServiceEvent {
        .found(try service(name, host, addresses))
    }

    private func service(_ name: String, _ host: String, _ addresses: String...) throws -> DiscoveredService {
        try service(name, host, addresses)
    }

    private func service(_ name: String, _ host: String, _ addresses: [String]) throws -> DiscoveredService {
        DiscoveredService(
            instance: ServiceInstance(name: ServiceName(observed: name), type: try ServiceType("_witap._tcp")),
            state: addresses.isEmpty ? .found : .resolved, host: addresses.isEmpty ? nil : try HostName(host),
            endpoints: try addresses.map {
                Endpoint(
                    address: try #require(IPAddress($0)), port: try Port(9),
                    interface: NetworkInterface(index: 2, name: "eth0"))
            })
    }

    @Test("the type is made of an identifier")
    func identifiers() {
        #expect(ServiceType(gameIdentifier: "witap")?.description == "_witap._tcp")
        #expect(ServiceType(gameIdentifier: "a-b-c-d-e-f-14")?.description == "_a-b-c-d-e-f-14._tcp")
        for identifier in ["", "-witap", "witap-", "WiTap", "wi tap", "wi_tap", "fifteen-letters", "wïtap", "12"] {
            #expect(ServiceType(gameIdentifier: identifier) == nil, "\(identifier)")
        }
    }
}
