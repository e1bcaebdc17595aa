#if Commands
import DiscoveryJSON
import Testing

@testable import DiscoverdCommands

@Suite("what --watch tells")
struct LineChangesTests {
    private func told(_ changes: inout LineChanges, _ lines: String...) -> [String] {
        changes.changes(to: lines).map { ($0.isNew ? "+" : "-") + $0.line }
    }

    @Test("what went and what came, equal lines too; nothing where nothing changed")
    func changes() {
        var changes = LineChanges()
        #expect(told(&changes, "a", "b", "b") == ["+a", "+b", "+b"])
        #expect(told(&changes, "a", "b", "b").isEmpty)
        #expect(told(&changes, "a", "c", "b") == ["-b", "+c"])
        #expect(told(&changes) == ["-a", "-c", "-b"])
    }

    @Test("a busy daemon's status is short: queries are counted, and few of the services that are not well are named")
    func busy() throws {
        // What differs in what is resolved alone is one query for people; what differs in family or domain is none.
        let feeds =
            (0..<31).map {
                #"{"type":"_x\#($0 % 9)._tcp","resolve":\#($0 < 9),"services":\#($0 % 9),"settled":\#($0 != 9)}"#
            } + [
                #"{"type":"_x1._tcp","family":"ipv4","settled":true}"#,
                #"{"type":"_x1._tcp","domain":"a.b","settled":true}"#,
            ]
        let services = (0..<40).map {
            #"{"id":"\#($0)","name":"s\#($0)","wanted":"s\#($0)","type":"_http._tcp","domain":"local","port":80,"state":"waiting","#
                + #""origin":"detached","reason":"avahi-daemon is away"}"#
        }
        let text = #"{"warm":[\#(feeds.joined(separator: ","))],"registrations":[\#(services.joined(separator: ","))]}"#
        let status = try JSONReader.read(Array(text.utf8))
        let pipe = Terminal(isInteractive: false, hasColour: false, movesCursor: false, isUTF8: true)
        let lines = StatusLines(status, for: pipe).all
        #expect(lines.count <= 15 && lines.contains("ready\t11 queries of 9 types, 1 not complete"), "\(lines)")
        #expect(lines.last == "\tand 37 more: 'discoverd status --services' lists them", "\(lines)")
        let all = StatusLines(status, for: pipe, isFull: true).all
        let ready = all.filter { $0.hasPrefix("ready") }
        #expect(ready.count == 11 && Set(ready).count == 11 && ready[0] == "ready\t_x0._tcp: 0 services, not complete")
        #expect(ready.suffix(2) == ["ready\t_x1._tcp, ipv4: 0 services", "ready\t_x1._tcp, a.b: 0 services"])
        #expect(all.count > 50)
    }

    @Test("of services that are not well, those that have failed are named first")
    func urgency() throws {
        let states = ["established", "withheld", "established", "conflicted", "waiting", "failed"]
        let services = states.enumerated().map { place, state in
            #"{"id":"\#(place)","name":"s\#(place)","wanted":"s\#(place)","type":"_http._tcp","domain":"local","port":80,"#
                + #""state":"\#(state)","origin":"detached","warning":"nothing listens"}"#
        }
        let status = try JSONReader.read(Array(#"{"registrations":[\#(services.joined(separator: ","))]}"#.utf8))
        let pipe = Terminal(isInteractive: false, hasColour: false, movesCursor: false, isUTF8: true)
        let named = StatusLines(status, for: pipe).all.compactMap { line in
            line.split(separator: "\t").dropFirst().first.map(String.init)
        }
        #expect(named.suffix(3) == ["s3", "s5", "s4"], "\(named)")
    }

    @Test("where names are answered is a line, and where they cannot be another, with the reason")
    func names() throws {
        let text =
            #"{"dns":[{"at":"127.0.0.1:53","answers":true},{"at":"[fd00::1]:53","answers":true},"#
            + #"{"at":"10.0.0.9:53","answers":false,"reason":"it is not there"}],"nss":[{"at":"/run/x","answers":false}]}"#
        let pipe = Terminal(isInteractive: false, hasColour: false, movesCursor: false, isUTF8: true)
        let lines = StatusLines(try JSONReader.read(Array(text.utf8)), for: pipe).all
        #expect(
            lines.filter { $0.hasPrefix("dns") || $0.hasPrefix("nss") } == [
                "dns\tanswers at 127.0.0.1:53, [fd00::1]:53",
                "dns\tdoes not answer at 10.0.0.9:53: it is not there", "nss\tdoes not answer at /run/x",
            ], "\(lines)")
    }

    @Test("a status without the times is the same a moment later, and every line is safe for a terminal")
    func status() throws {
        let pipe = Terminal(isInteractive: false, hasColour: false, movesCursor: false, isUTF8: true)
        func lines(_ uptime: Int, hasTimes: Bool) throws -> [String] {
            let text =
                #"{"degraded":true,"version":"1\u001b[2J","uptimeSeconds":\#(uptime),"reasons":["a\u202eb"],"#
                + #""warm":[{"type":"_x\u0007._tcp","services":1}],"domains":[{"name":"d\n","leaseLeftSeconds":\#(uptime)}]}"#
            return StatusLines(try JSONReader.read(Array(text.utf8)), for: pipe, hasTimes: hasTimes, isFull: true).all
        }
        #expect(try lines(1, hasTimes: false) == lines(2, hasTimes: false))
        #expect(try lines(1, hasTimes: true) != lines(2, hasTimes: true))
        let all = try lines(1, hasTimes: true)
        #expect(
            all.contains("\ta\\u{202E}b") && all.contains("ready\t_x\\u{7}._tcp: 1 service, not complete"), "\(all)")
        #expect(!all.joined().unicodeScalars.contains { $0.value < 0x20 && $0 != "\t" || $0.value == 0x202E })
    }
}
#endif
