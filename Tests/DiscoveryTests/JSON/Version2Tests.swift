import DNSSD
import Testing

@testable import DiscoveryJSON

/// What version 1 says, as version 2 says it: the table of docs/decisions/0087-json-version-2.md.
@Suite struct Version2Tests {
    private static let lines: [(old: String, new: String)] = [
        (#"{"v":1,"event":"settled","cursor":"a.7"}"#, #"{"v":2,"event":"complete","cursor":"a.7"}"#),
        (#"{"v":1,"event":"degraded","reason":"many"}"#, #"{"v":2,"event":"incomplete","reason":"many"}"#),
        (#"{"v":1,"event":"backend","state":"lost"}"#, #"{"v":2,"event":"unavailable"}"#),
        (#"{"v":1,"event":"backend","state":"recovered"}"#, #"{"v":2,"event":"available"}"#),
        (
            #"{"v":1,"event":"added","type":"_http._tcp","domain":"local","interfaces":["eth0"]}"#,
            #"{"v":2,"event":"added","type":{"name":"_http._tcp","title":"Web site","domain":"local","interfaces":["eth0"]}}"#
        ),
        (
            #"{"v":1,"event":"removed","domain":"example.org","purpose":"browsing"}"#,
            #"{"v":2,"event":"removed","domain":{"name":"example.org","purpose":"browsing"}}"#
        ),
        (
            #"{"v":1,"event":"added","service":{"name":"a","type":"_x._tcp","domain":"local","subtypes":[],"host":null,"port":null,"txt":{"flag":null},"endpoints":[],"interfaces":[],"identity":{"state":"known"},"state":"found","withheld":"why"},"cursor":"c"}"#,
            #"{"v":2,"event":"added","service":{"name":"a","type":"_x._tcp","domain":"local","subtypes":[],"txt":{"flag":null},"endpoints":[],"interfaces":[],"state":"found","reason":"why","key":"known"},"cursor":"c"}"#
        ),
        (
            #"{"v":1,"event":"published","name":"a #2","wanted":"a","type":"_x._tcp","domain":"local","port":80,"state":"registering"}"#,
            #"{"v":2,"event":"publication","service":{"name":"a #2","type":"_x._tcp","domain":"local","port":80},"publication":{"state":"waiting","wanted":"a"}}"#
        ),
        (
            #"{"v":1,"event":"updated","id":"7","name":"p.local","wanted":"p.local","domain":"local","host":"p.local","addresses":["10.0.0.9"],"state":"conflicted","reason":"taken","code":"name-taken","origin":"attached"}"#,
            #"{"v":2,"event":"updated","host":{"name":"p.local","addresses":[{"address":"10.0.0.9","family":"ipv4"}]},"publication":{"id":"7","state":"failed","wanted":"p.local","reason":"taken","code":"name-taken","from":"program"}}"#
        ),
        (
            #"{"v":1,"event":"record","name":"h1.local.","type":"A","class":1,"ttl":null,"data":"10.0.0.1"}"#,
            #"{"v":2,"event":"found","record":{"name":"h1.local.","type":"A","class":1,"data":"10.0.0.1"}}"#
        ),
        (
            #"{"v":1,"event":"failed","service":null,"endpoint":null,"milliseconds":1019,"resolving":17,"source":"resolved","attempts":[{"endpoint":{"address":"10.0.0.1","port":80,"family":"ipv4"},"outcome":"refused","start":null,"milliseconds":0,"reason":"no"}],"code":"unreachable","reason":"none"}"#,
            #"{"v":2,"event":"failed","source":"resolved","resolvingSeconds":0.017,"seconds":1.019,"attempts":[{"endpoint":{"address":"10.0.0.1","port":80,"family":"ipv4"},"outcome":"refused","seconds":0,"reason":"no"}],"error":{"code":"unreachable","message":"none"}}"#
        ),
        (
            #"{"v":1,"event":"forwarding","address":"::1","port":80,"name":"a","type":"_x._tcp","domain":"local"}"#,
            #"{"v":2,"event":"forwarding","service":{"name":"a","type":"_x._tcp","domain":"local"},"endpoint":{"address":"::1","family":"ipv6","port":80}}"#
        ),
    ]

    @Test("each line of version 1 has one of version 2", arguments: lines)
    func line(_ pair: (old: String, new: String)) throws {
        let made = JSONVersion.two.rendered(Array((pair.old + "\n").utf8))
        #expect(String(decoding: made, as: UTF8.self) == pair.new + "\n")
        #expect(JSONVersion.one.rendered(Array(pair.old.utf8)) == Array(pair.old.utf8))
    }

    @Test("a host with several addresses is one line; an address with two hosts is two")
    func hosts() {
        let old = [
            #"{"v":1,"event":"host","name":"h1.local","address":"10.0.0.1","family":"ipv4","interface":"eth0"}"#,
            #"{"v":1,"event":"host","name":"h1.local","address":"fe80::1%eth0","family":"ipv6","interface":"eth0"}"#,
            #"{"v":1,"event":"host","name":"h2.local","address":"10.0.0.1"}"#, "",
        ].joined(separator: "\n")
        let new = [
            #"{"v":2,"event":"found","host":{"name":"h1.local","addresses":[{"address":"10.0.0.1","family":"ipv4","interface":"eth0"},{"address":"fe80::1%eth0","family":"ipv6","interface":"eth0"}]}}"#,
            #"{"v":2,"event":"found","host":{"name":"h2.local","addresses":[{"address":"10.0.0.1","family":"ipv4"}]}}"#,
            "",
        ].joined(separator: "\n")
        #expect(String(decoding: JSONVersion.two.rendered(Array(old.utf8), as: .hosts), as: UTF8.self) == new)
        #expect(JSONVersion.one.rendered(Array(old.utf8), as: .hosts) == Array(old.utf8))
        #expect(JSONVersion.two.rendered([], as: .hosts).isEmpty)
    }

    @Test("what is tried again waits, whatever it is called in version 1")
    func states() throws {
        let states = [
            ("established", false, "published"), ("waiting", true, "waiting"), ("conflicted", true, "waiting"),
            ("conflicted", false, "failed"), ("failed", false, "failed"), ("withheld", false, "withheld"),
            ("withdrawn", false, "withdrawn"), ("file", false, "unknown"),
        ]
        for (old, isRetrying, new) in states {
            let retrying = isRetrying ? #","retrying":true"# : ""
            let service = #""name":"a","type":"_x._tcp","domain":"local""#
            let line = #"{\#(service),"state":"\#(old)","origin":"detached"\#(retrying)}"#
            let made = JSONVersion.two.rendered(Array(line.utf8), as: .publication)
            let state = try JSONReader.read(made)["publication"]?["state"]?.string
            #expect(state == new, "\(old)")
        }
    }

    @Test(
        "what a command gave up has failed; what it tries again waits", arguments: [JSONVersion.Subject.event, .ended])
    func givenUp(_ subject: JSONVersion.Subject) throws {
        let line = #"{"v":1,"event":"published","name":"a","type":"_x._tcp","domain":"local","state":"conflicted"}"#
        let made = try JSONReader.read(JSONVersion.two.rendered(Array(line.utf8), as: subject))
        #expect(made["publication"]?["state"]?.string == (subject == .ended ? "failed" : "waiting"))
    }

    @Test("a diagnosis has its type and its host in the shape that they have elsewhere")
    func diagnosis() throws {
        func made(_ members: String) throws -> JSONValue {
            let line = #"{"v":1,"event":"explanation","diagnoses":[],"notes":[],\#(members)}"#
            return try JSONReader.read(JSONVersion.two.rendered(Array(line.utf8)))
        }
        let type = try made(#""kind":"type","name":"_http._tcp","answers":[]"#)["type"]
        #expect(type?["name"]?.string == "_http._tcp" && type?["domain"]?.string == "local")
        let answer =
            #"{"name":"h1.local.","type":"A","ttl":120,"data":"10.77.0.1","from":"10.77.0.1","interface":"eth0","ways":[],"hops":255}"#
        let host = try made(#""kind":"host","name":"h1.local","answers":[\#(answer),\#(answer)]"#)["host"]
        #expect(host?["addresses"]?.array?.map { $0["address"]?.string } == ["10.77.0.1"])
        // RFC 4343.
        let folded = try made(#""kind":"host","name":"H1.local","answers":[\#(answer)]"#)["host"]
        #expect(folded?["addresses"]?.array?.map { $0["address"]?.string } == ["10.77.0.1"])
        let link = answer.replacing(#""A""#, with: #""AAAA""#).replacing(
            #""data":"10.77.0.1""#, with: #""data":"fe80::1""#)
        let other = try made(#""kind":"host","name":"h1.local","answers":[\#(link)]"#)["host"]
        #expect(other?["addresses"]?.array?.map { $0["address"]?.string } == ["fe80::1%eth0"])
    }

    @Test("an error says its code, its status, and what to do")
    func error() throws {
        let line = JSONError(code: "usage", status: 64, message: "no", advice: ["yes"]).line
        let wanted = #"{"v":2,"event":"error","error":{"code":"usage","status":64,"message":"no","advice":["yes"]}}"#
        #expect(String(decoding: line, as: UTF8.self) == wanted + "\n")
    }
}
