import DNSMessage
import DNSSD
import Testing

@testable import MulticastEngine

@Suite("One cache of a link, seen over one family")
struct FamilyViewTests {
    private let tony = Tony()
    private let now = Duration.seconds(100)

    private func link() -> LinkQuerier {
        var link = LinkQuerier.test()
        link.uses([.ipv4, .ipv6], apart: true)
        return link
    }

    private func hear(
        _ records: [ResourceRecord], over family: IPAddress.Family, _ link: inout LinkQuerier, at now: Duration
    ) -> [RecordCache.Change] {
        link.received(Message(flags: [.response], answers: records), isOwn: false, over: family, at: now)
    }

    private func seen(over family: IPAddress.Family?, _ link: inout LinkQuerier) -> [RecordData] {
        link.read(as: ObjectIdentifier(Owner.shared), over: family) {
            $0.cache.records(RecordKey(tony.host, .a)).map(\.data)
        }
    }

    private final class Owner: Sendable { static let shared = Owner() }

    @Test("A record is seen over the families that brought it, is told of once over each, and is kept once")
    func families() {
        var link = link()
        let key = RecordKey(tony.host, .a)
        #expect(hear([tony.address4], over: .ipv6, &link, at: now) == [.added(key, tony.address4.data)])
        #expect(seen(over: .ipv6, &link).count == 1)
        #expect(seen(over: .ipv4, &link).isEmpty)
        #expect(seen(over: nil, &link).count == 1)
        let later = now + .seconds(10)
        #expect(
            hear([tony.address4], over: .ipv4, &link, at: later) == [.heard(key, tony.address4.data, over: .ipv4)])
        #expect(hear([tony.address4], over: .ipv4, &link, at: later).isEmpty)
        #expect(seen(over: .ipv4, &link).count == 1)
        #expect(link.cache.count == 1)
        // It goes on over IPv4 alone: after its TTL it is over for whoever asks over IPv6.
        let end = later + .seconds(119)
        #expect(hear([tony.address4], over: .ipv4, &link, at: end) == [.unheard(key, tony.address4.data, over: .ipv6)])
        #expect(seen(over: .ipv6, &link).isEmpty)
        #expect(seen(over: nil, &link).count == 1)
    }

    @Test("While somebody asks over one family, an answer that came over the other is not listed as known")
    func knownAnswers() throws {
        var link = link()
        let list = RecordKey(tony.type, .ptr)
        link.ask(list, .shared, at: now)
        _ = hear([tony.pointer], over: .ipv4, &link, at: now)
        func answers(at now: Duration) throws -> Int {
            try link.packets(at: now).map { try Message(reading: $0).answers.count }.reduce(0, +)
        }
        #expect(try answers(at: now + .seconds(1)) == 0)
        link.uses([.ipv4, .ipv6], apart: false)
        #expect(try answers(at: now + .seconds(3)) == 1)
        link.uses([.ipv4, .ipv6], apart: true)
        _ = hear([tony.pointer], over: .ipv6, &link, at: now + .seconds(4))
        #expect(try answers(at: now + .seconds(10)) == 1)
    }

    @Test("Changes concern those who follow their list, their type or their host, each once")
    func followers() {
        final class Reader {}
        let (one, other) = (Reader(), Reader())
        var followers = Followers()
        for name in [tony.type, tony.type, tony.host] { followers.add(ObjectIdentifier(one), to: name) }
        followers.add(ObjectIdentifier(other), to: DomainName(text: "_http._tcp.local"))
        let changes = tony.all.map { RecordCache.Change.added(RecordKey($0.name, $0.type), $0.data) }
        let concerned = followers.concerned(by: changes)
        #expect(concerned.map(\.reader) == [ObjectIdentifier(one)])
        #expect(concerned.first?.changes == changes)
        followers.remove(ObjectIdentifier(one), from: tony.type)
        #expect(followers.concerned(by: changes).first?.changes == changes)
        followers.remove(ObjectIdentifier(one), from: tony.type)
        #expect(followers.concerned(by: changes).first?.changes.count == 2)
    }
}
