import DNSSD
import Discovery
import DiscoveryJSON
import Testing

@testable import DiscoveryControl

@Suite("the daemon's lines as an engine's facts")
struct MirrorTests {
    private var facts = Mirror<BrowseFact>()

    /// The names of the facts in a line.
    private mutating func told(_ line: String) throws -> [String] {
        let change = try Change(JSONReader.read(Array(line.utf8))) { json throws(JSONShapeError) in
            try DiscoveredService(line: json, InterfaceNames())
        }
        return change.map { facts.received($0).map(Self.name) } ?? []
    }

    private static func name(_ fact: BrowseFact) -> String {
        switch fact {
        case .merged(let service): "+\(service.instance.name)"
        case .gone(let instance): "-\(instance.name)"
        case .listed: "listed"
        case .backend(let state): state == .up ? "up" : "down"
        case .degraded(let text): text
        default: "other"
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

    @Test("what a broken connection said is left to the catalog, and all is new on the next")
    mutating func breaks() throws {
        #expect(facts.disconnected("no daemon").map(Self.name) == ["down"])
        #expect(facts.disconnected("no daemon").isEmpty)
        #expect(try told(Self.line("added", "a")) == ["up", "+a"])
        #expect(try told(Self.settled) == ["listed"])
        #expect(facts.snapshot.map(Self.name) == ["up", "+a", "listed"])
        #expect(facts.disconnected("gone").map(Self.name) == ["down"])
        #expect(facts.snapshot.map(Self.name) == ["down"])
        #expect(try told(Self.line("added", "b")) == ["up", "+b"])
        #expect(try told(#"{"v":1,"event":"degraded","reason":"more"}"#) == ["more"])
        #expect(try told(#"{"v":1,"event":"overflow"}"#) == [])
        #expect(facts.snapshot.map(Self.name) == ["up", "+b", "more"])
    }

    @Test("a daemon that never ends cannot fill this process")
    mutating func bounded() throws {
        let type = try ServiceType("_xx._tcp")
        for number in 0..<20_010 {
            let instance = ServiceInstance(name: try ServiceName("s\(number)"), type: type)
            let told = facts.received(.found(DiscoveredService(instance: instance))).map(Self.name)
            #expect(number < 20_000 ? told.last == "+s\(number)" : told.last?.hasPrefix("more than") == true)
        }
        #expect(facts.snapshot.count == 20_001)
    }

    @Test("of another site's daemon so many bytes are read at once, and so many a second")
    func pace() {
        let start = Duration.seconds(7)
        var pace = TokenBucket(burst: 1000, perSecond: 100)
        let first = [600, 400].map { pace.overdraw($0, at: start) }
        #expect(first == [.zero, .zero])
        let waits = [pace.overdraw(50, at: start), pace.overdraw(100, at: start + .seconds(1))]
        #expect(waits == [.milliseconds(500), .milliseconds(500)])
        let later = pace.overdraw(1000, at: start + .seconds(3600))
        #expect(later == .zero, "what was not read adds up to the burst alone")
        let more = pace.overdraw(100, at: start + .seconds(3600))
        #expect(more == .seconds(1))
    }

    @Test("the daemon is away for 5 s without a word, or before its first: once")
    func absence() {
        var absence = DaemonAbsence(patience: .seconds(5))
        absence.heard()
        #expect(!absence.missed(at: .seconds(1)) && !absence.missed(at: .milliseconds(5999)))
        absence.heard()
        #expect(!absence.missed(at: .seconds(7)) && !absence.missed(at: .milliseconds(11_999)))
        #expect(absence.missed(at: .seconds(12)) && !absence.missed(at: .seconds(20)))
        absence.heard()
        let again = absence.missed(at: .seconds(30))
        #expect(!again)
        var hung = DaemonAbsence(patience: .seconds(5))
        hung.heard()
        #expect(hung.missed(at: .seconds(1), hangs: true) && !hung.missed(at: .seconds(2), hangs: true))
        var silent = DaemonAbsence(patience: .seconds(5))
        #expect(silent.missed(at: .seconds(1)) && !silent.missed(at: .seconds(2)))
        silent.notReplaced(at: .seconds(3))
        #expect(!silent.missed(at: .milliseconds(7999)) && silent.missed(at: .seconds(8)))
        silent.notReplaced(at: .seconds(9))
        silent.heard()
        #expect(!silent.missed(at: .seconds(15)) && silent.missed(at: .seconds(20)))
    }

    @Test("a daemon is asked after 5 s without a word on any connection; one answer is for all")
    func heartbeat() {
        let start = ContinuousClock.now
        var heartbeat = Heartbeat()
        #expect(heartbeat.isDue(since: start) == start + .seconds(5))
        heartbeat.heard(at: start + .seconds(3))
        #expect(heartbeat.isDue(since: start) == start + .seconds(8))
        #expect(heartbeat.isDue(since: start + .seconds(7)) == start + .seconds(12))
        #expect(heartbeat.answers(at: start + .seconds(7)) == true && heartbeat.answers(at: start + .seconds(8)) == nil)
        heartbeat.missed(at: start + .seconds(10))
        #expect(heartbeat.isMissed && heartbeat.answers(at: start + .seconds(10)) == false)
        #expect(
            heartbeat.isDue(since: start) == start + .seconds(15) && heartbeat.answers(at: start + .seconds(15)) == nil)
        heartbeat.heard(at: start + .seconds(16))
        #expect(!heartbeat.isMissed)
    }
}
