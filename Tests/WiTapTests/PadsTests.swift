import DNSSD
import TerminalUI
import Testing
import WiTap

/// One byte a touch.
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

    @Test("the screen shows each pad, and a click on it finds it")
    func screen() throws {
        var theirs = Pads()
        let nine = try #require(Pad(9))
        theirs.touched(.down(nine))
        let view = PadsView(mine: Pads(), theirs: theirs, opponent: "h2")
        let lines = view.canvas.text
        #expect(lines.allSatisfy { $0.count <= 80 } && lines.count == 24)
        for pad in Pad.allCases {
            let row = try #require(lines.firstIndex { $0.contains("   \(pad.number)    |") })
            let column = try #require(lines[row].firstIndex(of: Character("\(pad.number)")))
            #expect(PadsView.pad(lines[row].distance(from: lines[row].startIndex, to: column), row) == pad)
        }
        #expect(lines.filter { $0.contains("***") }.count == 2)
        #expect(PadsView.pad(0, 0) == nil)
        #expect(PadsView.pad(79, 23) == nil)
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
