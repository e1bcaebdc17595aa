import DNSMessage
import DNSSD
import Discovery
import MulticastEngine
import Testing

@Suite("A TXT record that is late, odd or absent")
struct TextWaitTests {
    private let tony = Tony()
    private let whole = "tony=mac.local:9000 10.0.0.1,fe80::1 a=b"

    private func story(_ resolution: ServiceQuery.Resolution = .watch) throws -> LinkStory {
        try LinkStory(ServiceQuery(.type(try ServiceType("_witap._tcp"), .local), resolution: resolution))
    }

    private func storyOfOne(_ resolution: ServiceQuery.Resolution = .watch) throws -> LinkStory {
        let instance = ServiceInstance(name: try ServiceName("tony"), type: try ServiceType("_witap._tcp"))
        return try LinkStory(ServiceQuery(.instance(instance), resolution: resolution))
    }

    @Test("A service without TXT is told without it, after 1.5 s")
    func withoutText() throws {
        var story = try story()
        _ = story.hear([tony.pointer, tony.service(), tony.address4, tony.address6])
        #expect(try story.wait(milliseconds: 1499).isEmpty)
        #expect(try story.wait(milliseconds: 1).map(\.word) == ["tony=mac.local:9000 10.0.0.1,fe80::1 "])
    }

    @Test("One service without TXT, asked for by name, too")
    func oneWithoutText() throws {
        var story = try storyOfOne(.once)
        _ = story.hear([tony.service(), tony.address4, tony.address6])
        #expect(try story.wait(milliseconds: 1499).isEmpty)
        #expect(try story.wait(milliseconds: 1).contains { $0.word.hasPrefix("tony=mac.local:9000") })
    }

    @Test(
        "Who follows one service to dial it is told after 50 ms without TXT, which is whole after 1.5 s, or when it comes"
    )
    func dialledWithoutText() throws {
        for comes in [false, true] {
            var story = try storyOfOne()
            _ = story.hear([tony.service(), tony.address4, tony.address6])
            #expect(try story.wait(milliseconds: 49).isEmpty)
            #expect(try story.wait(milliseconds: 1).map(\.word) == ["+tony", "tony=mac.local:9000 10.0.0.1,fe80::1 "])
            #expect(!story.hasAnswer)
            if comes {
                #expect(story.hear([tony.text("a=b")]).map(\.word) == [whole])
            } else {
                #expect(try story.wait(milliseconds: 1450).isEmpty)
            }
            #expect(story.hasAnswer)
        }
    }

    @Test(
        "RFC 6763 §6.1: a TXT record of no bytes (Android's), one that cannot be read (UniFi's) and a denial are answers",
        arguments: [[], Array("model=UCK".utf8), nil])
    func emptyText(_ bytes: [UInt8]?) throws {
        var text = ResourceRecord(
            tony.name, .nsec, .nsec(next: tony.name, types: [.srv]), ttl: 4500, flushesCache: true)
        if let bytes { text = ResourceRecord(tony.name, .txt, .other(bytes), ttl: 4500, flushesCache: true) }
        let told = "tony=mac.local:9000 10.0.0.1,fe80::1 "
        var list = try story()
        let others = [tony.pointer, tony.service(), tony.address4, tony.address6]
        #expect(list.hear(others + [text]).map(\.word) == ["+tony", told])
        // In a packet of its own.
        var one = try storyOfOne(.once)
        _ = one.hear(others)
        #expect(one.hear([text]).map(\.word) == ["+tony", told])
        #expect(try one.wait(milliseconds: 5000).isEmpty)
        #expect(!one.types(asked: tony.name).contains("TXT"))
    }
}
