import DNSMessage
import DNSSD
import Discovery
import MulticastEngine
import Testing

@Suite("A browse of more than it keeps")
struct BrowseRoomTests {
    private let tony = Tony()
    private let services = Numbered()

    private func story(limit: Int) throws -> LinkStory {
        try LinkStory(ServiceQuery(.type(try ServiceType("_witap._tcp"), .local)), limit: limit)
    }

    @Test("Names that nobody answers for give way to a service that is there, and each of them has its turn")
    func bare() throws {
        var story = try story(limit: 16)
        var words = story.hear((0..<40).map { services.pointer($0) }).map(\.word)
        #expect(words.count { $0.hasPrefix("+") } == 16)
        #expect(words.count { $0 == "degraded" } == 1)
        // The newest gives way at once.
        #expect(
            story.hear(tony.all).map(\.word) == ["withdrawn s15", "+tony", "tony=mac.local:9000 10.0.0.1,fe80::1 a=b"])
        words += try story.wait(milliseconds: 60_000).map(\.word)
        let seen = Set(words.filter { $0.hasPrefix("+") })
        #expect(seen == Set((0..<40).map { "+s\($0)" }))
        #expect(!words.contains("-tony"))
    }

    @Test("What answers later, or comes when its SRV record is heard, is found though there was no room for it")
    func later() throws {
        var story = try story(limit: 16)
        _ = story.hear((0..<40).map { services.pointer($0) })
        let words = story.hear(services.all(33)).map(\.word)
        #expect(words.contains("+s33"))
        #expect(words.contains { $0.hasPrefix("s33=mac.local:9000") })
    }

    @Test("One host's newest give way to others, and what was left out comes back when there is room")
    func hosts() throws {
        var story = try story(limit: 100)
        var words: [String] = []
        // Under as many names of hosts as it likes.
        for number in 0..<110 {
            words += story.hear(services.all(number, on: "h\(number).local"), from: PacketSource(1)).map(\.word)
        }
        #expect(words.count { $0.hasPrefix("+") } == 100)
        #expect(words.count { $0.hasPrefix("withdrawn") } == 0)
        let other = story.hear(services.all(200), from: PacketSource(2)).map(\.word)
        #expect(other.prefix(2) == ["withdrawn s99", "+s200"])
        // One that leaves makes room for one that waits, within a second or two.
        _ = story.hear(services.all(7, on: "h7.local").prefix(3).map(\.goodbye))
        let after = try story.wait(milliseconds: 3000).map(\.word)
        #expect(after.count { $0 == "withdrawn s7" } == 1)
        #expect(after.count { $0.hasPrefix("+") } == 1)
    }

    @Test("20,000 services of 300 hosts are found, and all are known to the next list")
    func many() throws {
        let query = ServiceQuery(.type(try ServiceType("_witap._tcp"), .local))
        var story = try LinkStory(query)
        var words: [String] = []
        for start in stride(from: 0, to: 20_000, by: 100) {
            let records = (start..<start + 100).flatMap { services.all($0, on: "h\($0 % 300).local") }
            words += story.hear(records, from: PacketSource(UInt32(start % 300))).map(\.word)
        }
        #expect(words.count { $0.hasPrefix("+") } == 20_000)
        #expect(!words.contains { $0 == "degraded" || $0.hasPrefix("withdrawn") })
        var next = try LinkStory(query, link: story.link)
        #expect(next.hear([]).count { $0.word.hasPrefix("+") } == 20_000)
    }

    @Test("Services of one packet do not give way to each other")
    func onePacket() throws {
        var story = try story(limit: 100)
        for number in 0..<100 { _ = story.hear(services.all(number), from: PacketSource(1)) }
        let words = story.hear((200..<203).flatMap { services.all($0) }, from: PacketSource(2)).map(\.word)
        #expect(words.filter { $0.hasPrefix("w") } == ["withdrawn s99", "withdrawn s98", "withdrawn s97"])
        #expect(words.filter { $0.hasPrefix("+") } == ["+s200", "+s201", "+s202"])
        #expect(words.count { $0.hasPrefix("s20") } == 3)
    }

    @Test(
        "Less room for all: names that nobody answers for give way, then the largest sender's newest; more room brings them back"
    )
    func less() throws {
        var story = try story(limit: 100)
        for number in 0..<80 { _ = story.hear(services.all(number), from: PacketSource(1)) }
        for number in 100..<110 { _ = story.hear(services.all(number), from: PacketSource(2)) }
        _ = story.hear((200..<210).map { services.pointer($0) }, from: PacketSource(3))
        let words = story.keep(atMost: 75).map(\.word)
        #expect(
            words.filter { $0.hasPrefix("w") } == (200..<210).reversed().map { "withdrawn s\($0)" }
                + (65..<80).reversed().map { "withdrawn s\($0)" })
        #expect(story.keep(atMost: 90).isEmpty)
        let later = try story.wait(milliseconds: 1000).map(\.word)
        #expect(later.count { $0.hasPrefix("+") } == 15)
    }

    @Test("An address of a host with thousands of services costs one turn no more than an eighth of a thousand")
    func pieces() throws {
        var story = try story(limit: 22_528)
        for number in 0..<1000 { _ = story.hear(services.all(number)) }
        _ = try story.wait(milliseconds: 5000)
        let facts = story.hear([ResourceRecord(tony.host, .a, .a(2), ttl: 120)])
        #expect(facts.count == 128)
        // The rest is due at once.
        #expect(try story.wait(milliseconds: 0).count == 872)
        #expect(try story.wait(milliseconds: 1000).isEmpty)
    }

    @Test("Of a host with more addresses than are told those of this link are there, and those that came first")
    func addresses() throws {
        var story = try story(limit: 10)
        story.link.neighbours([try CIDR("10.0.0.0/24")])
        let junk = (0..<40 as Range<UInt32>).map { ResourceRecord(tony.host, .a, .a(0x0101_0100 + $0), ttl: 120) }
        for record in junk {
            _ = story.hear([record])
            _ = try story.wait(milliseconds: 1)
        }
        let facts = story.hear(tony.all)
        let told = facts.compactMap { if case .resolved(let resolution) = $0 { resolution.addresses } else { nil } }
        let addresses = try #require(told.last)
        #expect(addresses.count == 32)
        #expect(addresses.contains { $0.description == "10.0.0.1" })
        #expect(
            addresses.contains { $0.description == "1.1.1.0" } && !addresses.contains { $0.description == "1.1.1.39" })
        #expect(facts.contains { $0.word == "degraded" })
    }
}
