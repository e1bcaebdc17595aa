#if Commands
import ArgumentParser
import CommandFrame
import DNSSD
import Testing

@testable import DiscoverdCommands

@Suite("--name, --where and --sort of browse, the words of wait")
struct ServiceFilterTests {
    private static func service(
        _ name: String, _ state: DiscoveredService.State = .resolved, host: String = "nas.local", port: Int = 80
    ) throws -> DiscoveredService {
        DiscoveredService(
            instance: ServiceInstance(name: try ServiceName(name), type: try ServiceType("_http._tcp"), domain: .local),
            state: state, host: try HostName(host), port: try Port(port),
            txt: try TXTRecord(["path": "/x/y", "Flag": ""]),
            endpoints: [])
    }

    @Test(
        "conditions",
        arguments: [
            ("txt.path=/x*", true), ("txt.PATH=/x/y", true), ("txt.path=/X*", false), ("txt.path!=/x*", false),
            ("txt.path!=/z", true), ("txt.flag", true), ("txt.none", false), ("txt.none!=*", true), ("txt.flag=", true),
            ("host=NAS*", true), ("host=box*", false), ("port=80", true), ("port!=80", false), ("port=8?", true),
            ("address=10.*", false), ("address!=10.*", true), ("txt.path=[/a-z]*=", false),
        ])
    func condition(_ text: String, _ isMet: Bool) throws {
        let filter = try ServiceFilter(conditions: [text])
        #expect(filter.allows(try Self.service("web")) == isMet)
        #expect(filter.needsResolution)
        #expect(!filter.allows(try Self.service("web", .found)))
    }

    @Test(
        "what is no condition is refused",
        arguments: ["", "txt.", "txt.=x", "host", "port", "path=/x", "txt.path=[", "=", "!=", "txt!=x"])
    func malformed(_ text: String) {
        #expect(throws: Parsing.Failure.self) { try ServiceFilter(conditions: [text]) }
    }

    @Test("a name matches one of several patterns, whatever its case; conditions hold all at once")
    func names() throws {
        let filter = try ServiceFilter(names: ["Pr*", "web"])
        #expect(filter.allows(try Self.service("PRINTER")))
        #expect(filter.allows(try Self.service("Web")))
        #expect(!filter.allows(try Self.service("website")) && !filter.needsResolution)
        let both = try ServiceFilter(names: ["w*"], conditions: ["port=80", "txt.path=/z"])
        #expect(!both.allows(try Self.service("web")))
    }

    @Test("--mine and --others: once it is known whose a service is; a message names the options, and what was there")
    func own() throws {
        let web = try Self.service("web")
        #expect(try ServiceFilter(areOwn: false).allows(web) && !ServiceFilter(areOwn: true).allows(web))
        #expect(!(try ServiceFilter(areOwn: false)).allows(try Self.service("web", .found)))
        let query = BrowseQuery(types: [try ServiceType("_ipp._tcp")], filter: try ServiceFilter(names: ["Office"]))
        #expect(query.isNotFound(beside: 2) == "none of the 2 services of type _ipp._tcp matches --name \"Office\"")
        #expect(query.isNotFound() == "no service of type _ipp._tcp was found")
    }

    @Test("what becomes allowed is found, what no longer is, lost; others are never mentioned")
    func events() throws {
        var filtered = FilteredEvents(try ServiceFilter(conditions: ["port=80"]))
        let (there, other) = (try Self.service("a"), try Self.service("a", port: 81))
        #expect(filtered.event(.found(other)) == nil)
        #expect(filtered.event(.lost(other)) == nil)
        #expect(filtered.event(.found(other)) == nil)
        #expect(filtered.event(.changed(there)) == .found(there))
        #expect(filtered.event(.changed(there)) == .changed(there))
        #expect(filtered.event(.changed(other)) == .lost(other))
        #expect(filtered.event(.lost(other)) == nil)
        #expect(filtered.event(.found(there)) == .found(there))
        #expect(filtered.event(.lost(there)) == .lost(there))
        #expect(filtered.event(.settled) == .settled)
    }

    @Test("a list in order is shown at its end, whatever came first")
    func order() throws {
        var listing = OnceListing(resolves: false, links: 1, order: .name)
        for name in ["b", "C", "a"] { #expect(!listing.became(try Self.service(name))) }
        listing.ended(try Self.service("b"))
        #expect(listing.take().map(\.instance.name.text) == ["a", "C"])
        var hosts = OnceListing(resolves: false, links: 1, order: .host)
        for (name, host) in [("a", "z.local"), ("b", "y.local"), ("c", "y.local")] {
            #expect(!hosts.became(try Self.service(name, host: host)))
        }
        #expect(hosts.take().map(\.instance.name.text) == ["b", "c", "a"])
    }

    @Test("a list has what is left of it, though the first that was found went before it was shown")
    func firstIsLost() throws {
        var listing = OnceListing(resolves: true, links: 0)
        for name in ["a", "b"] { #expect(!listing.became(try Self.service(name, .found))) }
        listing.ended(try Self.service("a", .found))
        #expect(listing.count == 1)
        #expect(listing.became(try Self.service("b")))
        // What was shown stays.
        listing.ended(try Self.service("b"))
        #expect(listing.count == 1)
    }

    @Test("wait: a word that can be a type is one, and said to be doubtful; what cannot is a name")
    func words() throws {
        func wanted(_ arguments: String...) throws -> WaitCommand.Wanted {
            try WaitCommand.parse(arguments).wanted()
        }
        #expect(try wanted("_http._tcp").doubtful == nil)
        let word = try wanted("printer")
        #expect(word.type == (try ServiceType("_printer._tcp")))
        #expect(word.doubtful == "printer" && word.name == nil)
        let name = try wanted("Front desk")
        #expect(name.type == nil)
        #expect(name.name == (try ServiceName("Front desk")))
        let both = try wanted("http", "--name", "web")
        #expect(both.type != nil && both.name?.text == "web" && both.doubtful == nil)
        #expect(throws: (any Error).self) { try WaitCommand.parse([]) }
        #expect(throws: (any Error).self) { try WaitCommand.parse(["_bad type", "--gone"]) }
        #expect(throws: (any Error).self) { try WaitCommand.parse(["http", "--gone", "--count", "2"]) }
    }

    @Test("browse: several types, each once; --sort only with -t")
    func types() throws {
        #expect(try BrowseCommand.parse(["http", "_ipp._tcp", "http"]).type.count == 3)
        #expect(throws: (any Error).self) { try BrowseCommand.parse(["http", "--sort", "name"]) }
        #expect(throws: (any Error).self) { try BrowseCommand.parse(["http", "--all"]) }
        #expect(throws: (any Error).self) { try BrowseCommand.parse(["http", "--where", "path"]) }
        #expect(throws: (any Error).self) {
            try BrowseCommand.parse((0..<129).map { "_t\($0)._tcp" })
        }
    }
}
#endif
