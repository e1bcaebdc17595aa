import DNSMessage
import DNSSD
import Discovery
import MulticastEngine
import Testing

@Suite("A goodbye of the PTR record alone")
struct PointerGoodbyeTests {
    private let tony = Tony()

    private func story(_ resolution: ServiceQuery.Resolution = .watch) throws -> LinkStory {
        try LinkStory(ServiceQuery(.type(try ServiceType("_witap._tcp"), .local), resolution: resolution))
    }

    @Test(
        "A goodbye of the PTR record alone, as Apple's: SRV and its host are asked for once; that the host alone answers is a withdrawal",
        arguments: ["silence", "its host", "an answer", "an announcement", "a probe"],
        [ServiceQuery.Resolution.watch, .none])
    func pointerAlone(_ follows: String, _ resolution: ServiceQuery.Resolution) throws {
        var story = try story(resolution)
        _ = story.hear(tony.all)
        #expect(try story.wait(milliseconds: 5000).isEmpty)
        #expect(story.hear([tony.pointer.goodbye]).isEmpty)
        #expect(try story.wait(milliseconds: 500).isEmpty)
        #expect(story.oneShots.filter { $0.type == .srv } == [Question(tony.name, .srv)])
        if follows != "silence" { #expect(story.hearOneShot([tony.address4], to: .a).isEmpty) }
        switch follows {
        case "an answer": #expect(story.hearOneShot([tony.service()], to: .srv).isEmpty)
        case "an announcement": #expect(story.hear([tony.service()]).isEmpty)
        case "a probe": story.hearProbe(for: tony.service())
        default: break
        }
        // That no one answers at all is a responder that restarts.
        let word = follows == "its host" ? "withdrawn tony" : "-tony"
        #expect(try story.wait(milliseconds: 500).map(\.word) == [word])
    }

    @Test(
        "Of a flood of goodbyes sixteen services are asked for; of the others it is not known that they are withdrawn")
    func manyPointers() throws {
        var story = try story(.none)
        let all = (0..<40).flatMap { Numbered().all($0) }
        _ = story.hear(all)
        _ = story.hear((0..<40).map { Numbered().pointer($0).goodbye })
        _ = try story.wait(milliseconds: 100)
        #expect(story.oneShots.count { $0.type == .srv } == 16 && story.oneShots.count == 18)
        _ = story.hearOneShot([tony.address4], to: .a)
        let words = try story.wait(milliseconds: 900).map(\.word)
        #expect(words.count { $0.hasPrefix("withdrawn") } == 16 && words.count { $0.hasPrefix("-s") } == 24)
    }
}
