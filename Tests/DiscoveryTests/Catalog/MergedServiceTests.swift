import DNSSD
import Discovery
import Testing

@Suite("services that another process has merged") struct MergedServiceTests {
    private func merged(_ name: String, port: UInt16 = 1) throws -> DiscoveredService {
        DiscoveredService(
            instance: try instance(name), interfaces: [eth0], state: .resolved, host: try HostName("h.local"),
            port: Port(rawValue: port), txt: ["a": "b"], isAuthenticated: true)
    }

    @Test("each is reported as it is, at once, and so is its end")
    func passedOn() throws {
        var story = CatalogStory(try typeQuery())
        #expect(story.tell(.merged(try merged("a")), .merged(try merged("b"))).words == ["+a", "+b"])
        #expect(story.service("a") == (try merged("a")))
        #expect(story.tell(.listed).words == ["settled"])
        #expect(story.tell(.merged(try merged("a"))) == [])
        #expect(story.tell(.merged(try merged("a", port: 2))) == [.changed(try merged("a", port: 2))])
        #expect(story.tell(.gone(try instance("a"))) == [.lost(try merged("a", port: 2))])
        #expect(story.catalog.nextDeadline == nil)
        #expect(story.tell(.gone(try instance("never there"))) == [])
    }

    @Test("a query for a subtype has it, though lines of names alone do not")
    func subtypes() throws {
        var query = try typeQuery(.none)
        query.target = .type(try ServiceType("_printer._sub._witap._tcp"), .local)
        var story = CatalogStory(query)
        _ = story.tell(.merged(try merged("a")))
        #expect(story.service("a")?.subtypes == ["_printer"])
        var other = try merged("a")
        other.subtypes = ["_scan", "_printer"]
        _ = story.tell(.merged(other))
        _ = story.wait(.seconds(2))
        #expect(story.service("a")?.subtypes == ["_printer", "_scan"])
    }

    @Test("what was known before the break stays until the next list, and 3.1 s more, unless it ends")
    func unconfirmed() throws {
        var story = CatalogStory(try typeQuery())
        _ = story.tell(.merged(try merged("a")), .merged(try merged("b")), .merged(try merged("c")), .listed)
        #expect(story.tell(.backend(.down("gone"))).words == ["backend lost"])
        #expect(story.wait(.seconds(60)) == [])
        #expect(story.tell(.backend(.up), .merged(try merged("a"))).words == ["backend recovered"])
        #expect(story.tell(.gone(try instance("c"))).words == ["-c"])
        #expect(story.tell(.listed).words == ["settled"])
        #expect(story.wait(.milliseconds(3090)) == [])
        #expect(story.wait(.milliseconds(10)).words == ["-b"])
    }

    @Test("an engine that goes on in that process's place sees it elsewhere: nothing ends, and nothing is less known")
    func takeover() throws {
        var story = CatalogStory(try typeQuery())
        _ = story.tell(.merged(try merged("a")), .merged(try merged("b")), .listed, .backend(.down("gone")))
        #expect(story.tell(.backend(.up), .appeared(try sighting("a"))).words == ["backend recovered"])
        #expect(story.tell(.listed).words == ["settled"])
        #expect(story.wait(.milliseconds(3100)).words == ["-b"])
        #expect(story.service("a") == (try merged("a")))
        #expect(story.tell(.resolved(try resolution("a"))).words == ["~a"])
        #expect(story.service("a")?.port?.rawValue == 9000)
        #expect(story.tell(.disappeared(try sighting("a"))) == [])
        #expect(story.wait(.milliseconds(3100)).words == ["-a"])
    }

    @Test("however many: who merged them keeps no more than it may")
    func many() throws {
        var limits = DiscoveryLimits()
        limits.services = 2
        var story = CatalogStory(try typeQuery(), limits: limits)
        let told = story.tell(.merged(try merged("a")), .merged(try merged("b")), .merged(try merged("c")))
        #expect(told.words == ["+a", "+b", "+c"])
    }
}
