import DNSMessage
import DNSSD
import Discovery
import MulticastEngine
import Testing

/// RFC 6763 §7.1: a service is listed under its subtypes, too. No one asks for these lists; what is heard of them is told.
struct SubtypeTests {
    private let tony = Tony()
    private let printer = DomainName(text: "_printer._sub._witap._tcp.local")

    private func story(_ type: String = "_witap._tcp") throws -> LinkStory {
        try LinkStory(ServiceQuery(.type(try ServiceType(type), .local), resolution: .watch))
    }

    private func pointer(_ list: String, to name: DomainName? = nil) -> ResourceRecord {
        ResourceRecord(DomainName(text: list), .ptr, .ptr(name ?? tony.name), ttl: 4500)
    }

    private func subtypes(_ facts: [BrowseFact]) -> [[String]] {
        facts.compactMap { if case .resolved(let resolution) = $0 { resolution.subtypes } else { nil } }
    }

    @Test("an announcement's subtypes come with the service, in whatever order its records are; others' do not")
    func announced() throws {
        let subs = [
            pointer("_printer._sub._witap._tcp.local"), pointer("_Scan._SUB._witap._tcp.local"),
            pointer("_other._sub._ipp._tcp.local"), pointer("_deep._x._sub._witap._tcp.local"),
            pointer("_printer._sub._witap._tcp.local", to: DomainName(text: "paul._witap._tcp.local")),
        ]
        for records in [subs + tony.all, tony.all + subs] {
            var story = try story()
            #expect(subtypes(story.hear(records)) == [["_Scan", "_printer"]])
            #expect(!story.asked.contains { $0.question.name == printer })
        }
    }

    @Test("those that are heard later change it; their expiry does not, and its end does")
    func later() throws {
        var story = try story()
        #expect(subtypes(story.hear(tony.all)) == [[]])
        #expect(subtypes(story.hear([pointer("_printer._sub._witap._tcp.local")])) == [["_printer"]])
        #expect(subtypes(story.hear([pointer("_printer._sub._witap._tcp.local").goodbye])).isEmpty)
        _ = try story.wait(milliseconds: 2000)
        #expect(subtypes(story.hear([tony.text("a=c")])) == [["_printer"]])
        _ = story.hear(tony.all.map(\.goodbye))
        _ = try story.wait(milliseconds: 2000)
        #expect(subtypes(story.hear(tony.all)) == [[]])
    }

    @Test("what was heard before the query counts")
    func before() throws {
        var link = LinkQuerier.test()
        let message = Message(flags: [.response], answers: [pointer("_printer._sub._witap._tcp.local")])
        _ = link.received(message, isOwn: false, at: .seconds(90))
        var story = try LinkStory(
            ServiceQuery(.type(try ServiceType("_witap._tcp"), .local), resolution: .watch), link: link)
        #expect(subtypes(story.hear(tony.all)) == [["_printer"]])
    }

    @Test("of a hundred subtypes sixteen are told")
    func many() throws {
        var story = try story()
        let subs = (0..<100).map { pointer("_s\($0)._sub._witap._tcp.local") }
        #expect(subtypes(story.hear(tony.all + subs)).last?.count == 16)
    }
}
