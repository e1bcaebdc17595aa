import DNSMessage
import DNSSD
import Discovery
import MulticastEngine
import Testing

/// hashicorp/mdns and its many users: every answer goes to the asker alone, by unicast, without id and question.
@Suite("A responder that answers the asker alone")
struct LoneAnswerTests {
    private let tony = Tony()
    private let whole = "tony=mac.local:9000 10.0.0.1,fe80::1 a=b"

    private func story(_ resolution: ServiceQuery.Resolution = .watch) throws -> LinkStory {
        try LinkStory(ServiceQuery(.type(try ServiceType("_witap._tcp"), .local), resolution: resolution))
    }

    @Test(
        "its services are listed: a list is asked for from a port of its own too, 120 ms after the group, and 40 ms later"
    )
    func listed() throws {
        var story = try story()
        _ = try story.wait(milliseconds: 120)
        let first = try #require(story.asked.first?.after)
        _ = try story.wait(milliseconds: first + 119 - 120)
        #expect(story.oneShots.isEmpty && story.hearLone(tony.all).isEmpty)
        _ = try story.wait(milliseconds: 1)
        #expect(story.oneShots == [Question(tony.type, .ptr)])
        #expect(story.hearLone(tony.all).map(\.word) == ["+tony", whole])
        _ = try story.wait(milliseconds: 39)
        #expect(story.oneShots.count == 1)
        _ = try story.wait(milliseconds: 20_000)
        #expect(story.oneShots == Array(repeating: Question(tony.type, .ptr), count: 2))
    }

    @Test("what it leaves out is asked for in the same way, and nothing that is not wanted")
    func pieces() throws {
        var story = try story()
        _ = try story.wait(milliseconds: 500)
        #expect(story.hearLone([tony.pointer]).map(\.word) == ["+tony"])
        _ = try story.wait(milliseconds: 10)
        #expect(story.oneShots.dropFirst(2) == [Question(tony.name, .srv), Question(tony.name, .txt)])
        #expect(story.hearLone([tony.service(), tony.text("a=b")]).isEmpty)
        _ = try story.wait(milliseconds: 10)
        #expect(story.oneShots.dropFirst(4) == [Question(tony.host, .a), Question(tony.host, .aaaa)])
        var names = try self.story(.none)
        _ = try names.wait(milliseconds: 500)
        _ = names.hearLone([tony.pointer, tony.service()])
        _ = try names.wait(milliseconds: 100)
        #expect(names.oneShots.count == 2)
    }

    @Test("only while exactly its question is open: not other records, not after two seconds, no goodbye, no flush")
    func believed() throws {
        var story = try story()
        _ = try story.wait(milliseconds: 500)
        let other = ResourceRecord(DomainName(text: "_http._tcp.local"), .ptr, .ptr(tony.name), ttl: 120)
        #expect(story.hearLone([other]).isEmpty && story.hearLone([tony.service(), tony.address4]).isEmpty)
        let eve = ResourceRecord(DomainName(text: "eve.local"), .a, .a(1), ttl: 120)
        #expect(story.hearLone(tony.all + [eve]).map(\.word) == ["+tony", whole])
        #expect(story.link.cache.records(RecordKey(eve.name, .a)).isEmpty)
        #expect(story.hearLone([tony.pointer, tony.service().goodbye, tony.pointer.goodbye]).isEmpty)
        #expect(try story.wait(milliseconds: 4000).isEmpty)
        let late = tony.pointer(to: DomainName(text: "late._witap._tcp.local"))
        #expect(story.hearLone([late]).isEmpty)
    }

    @Test("what it said is kept: asked for again so before it ends, and in no doubt where others ask the group in vain")
    func kept() throws {
        var story = try story(.none)
        _ = try story.wait(milliseconds: 500)
        var pointer = tony.pointer
        pointer.ttl = 120
        _ = story.hearLone([pointer])
        for _ in 0..<9 {
            #expect(try story.wait(milliseconds: 10_000).isEmpty)
            story.hearQuestion(Question(tony.type, .ptr))
        }
        #expect(try story.wait(milliseconds: 10_000).isEmpty)
        #expect(story.oneShots == Array(repeating: Question(tony.type, .ptr), count: 3))
        #expect(story.hearLone([pointer]).isEmpty)
        #expect(try story.wait(milliseconds: 90_000).isEmpty)
    }

    @Test(
        "avahi-daemon logs what does not fit its answer: where a host lists more than five, the list is not asked for so"
    )
    func many() throws {
        for count in [5, 6] {
            var story = try story(.none)
            _ = story.hear((0..<count).map { Numbered().pointer($0) }, from: PacketSource(1))
            _ = try story.wait(milliseconds: 5000)
            let names = Set(story.oneShots.map(\.name))
            #expect(names.count == 1 && names.contains(tony.type) == (count == 5), "\(names)")
        }
    }

    @Test("256 lists that begin together are each asked for so, as the rate of the link allows")
    func crowded() throws {
        var link = LinkQuerier.test()
        for number in 0..<256 {
            link.ask(RecordKey(DomainName(text: "_t\(number)._tcp.local"), .ptr), .shared, at: .zero)
        }
        var asked: Set<Question> = []
        for tick in 0..<100 {
            let now = Duration.milliseconds(100 * tick)
            _ = link.packets(at: now)
            asked.formUnion(try link.oneShotPackets(at: now).flatMap { try Message(reading: $0).questions })
        }
        #expect(asked.count == 256)
    }
}
