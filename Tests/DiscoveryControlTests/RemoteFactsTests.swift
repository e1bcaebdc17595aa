import DNSSD
import Discovery
import DiscoveryJSON
import Testing

@testable import DiscoveryControl

@Suite("the daemon's lines as an engine's facts")
struct RemoteFactsTests {
    private var facts = RemoteFacts(isResolving: false, family: nil)

    /// The names of the facts in a line.
    private mutating func told(_ line: String) throws -> [String] {
        try facts.received(WatchLine(Array(line.utf8), InterfaceNames())).map(Self.name)
    }

    private static func name(_ fact: BrowseFact) -> String {
        switch fact {
        case .appeared(let sighting): "+\(sighting.instance.name)"
        case .disappeared(let sighting): "-\(sighting.instance.name)"
        case .withdrawn(let sighting): "withdrawn \(sighting.instance.name)"
        case .hidden(let sighting): "hidden \(sighting.instance.name)"
        case .listed: "listed"
        case .backend(let state): state == .up ? "up" : "down"
        case .resolved, .resolutionFailed, .degraded: "other"
        }
    }

    private static func line(_ event: String, _ name: String) -> String {
        """
        {"v":1,"event":"\(event)","service":{"name":"\(name)","type":"_xx._tcp","domain":"local","interfaces":["lo"]}}
        """
    }

    private static func backend(_ state: String) -> String {
        #"{"v":1,"event":"backend","state":"\#(state)","reason":"gone"}"#
    }

    private static let settled = #"{"v":1,"event":"settled"}"#

    @Test("services that a daemon without a backend remembers do not imply a backend")
    mutating func remembered() throws {
        #expect(try told(Self.backend("lost")) == ["down"])
        #expect(try told(Self.line("added", "old")) == ["+old"])
        #expect(try told(Self.line("removed", "old")) == ["-old"])
        #expect(try told(Self.backend("recovered")) == ["up"])
        #expect(try told(Self.line("added", "new")) == ["+new"])
        #expect(try told(Self.settled) == ["listed"])
    }

    @Test("a lost backend is reported once, and known services are reported again when it is back")
    mutating func comesAndGoes() throws {
        #expect(try told(Self.line("added", "a")) == ["up", "+a"])
        #expect(try told(Self.settled) == ["listed"])
        #expect(try told(Self.backend("lost")) == ["down"])
        #expect(try told(Self.backend("lost")) == [])
        #expect(try told(Self.line("added", "b")) == ["+b"])
        let back = try told(Self.backend("recovered"))
        #expect(back.first == "up" && back.last == "listed" && Set(back.dropFirst().dropLast()) == ["+a", "+b"])
    }
}
