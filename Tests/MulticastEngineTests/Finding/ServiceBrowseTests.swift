import DNSMessage
import DNSSD
import Discovery
import MulticastEngine
import Testing

@Suite("A browse on one link")
struct ServiceBrowseTests {
    private let tony = Tony()
    private let whole = "tony=mac.local:9000 10.0.0.1,fe80::1 a=b"

    private func story(_ resolution: ServiceQuery.Resolution = .watch) throws -> LinkStory {
        try LinkStory(ServiceQuery(.type(try ServiceType("_witap._tcp"), .local), resolution: resolution))
    }

    private func storyOfOne() throws -> LinkStory {
        let instance = ServiceInstance(name: try ServiceName("tony"), type: try ServiceType("_witap._tcp"))
        return try LinkStory(ServiceQuery(.instance(instance)))
    }

    @Test(
        "One name that is silent for 10 ms is also asked for from a port of its own, and so are its hosts; a list twice"
    )
    func oneShots() throws {
        var one = try storyOfOne()
        #expect(try one.wait(milliseconds: 9).isEmpty && one.oneShots.isEmpty)
        #expect(try one.wait(milliseconds: 1).isEmpty)
        #expect(one.oneShots == [Question(tony.name, .srv), Question(tony.name, .txt)])
        _ = one.hear([tony.service(), tony.text("a=b"), tony.address6])
        _ = try one.wait(milliseconds: 10)
        #expect(one.oneShots.dropFirst(2) == [Question(tony.host, .a)])
        var list = try story()
        _ = list.hear([tony.pointer])
        _ = try list.wait(milliseconds: 2400)
        #expect(list.types(asked: tony.name).contains("SRV"))
        #expect(list.oneShots == Array(repeating: Question(tony.type, .ptr), count: 2))
    }

    @Test("A whole answer is told at once, and nothing further is asked")
    func additionals() throws {
        var story = try story()
        let facts = story.hear(tony.all)
        #expect(facts.map(\.word) == ["+tony", whole])
        // A link-local address has a meaning only on its own link.
        let scoped = IPAddress.v6(IPv6Address(high: 0xFE80 << 48, low: 1), scope: 2)
        #expect(
            facts.contains {
                if case .resolved(let resolution) = $0 { resolution.addresses.contains(scoped) } else { false }
            })
        #expect(try story.wait(milliseconds: 900).isEmpty)
        #expect(story.asked.map(\.question.type) == [.ptr])
        #expect(try story.wait(milliseconds: 50_000).isEmpty)
        #expect(story.types(asked: tony.name).isEmpty && story.types(asked: tony.host).isEmpty)
    }

    @Test("What is missing is asked for 20 ms later: SRV and TXT, then the addresses")
    func missing() throws {
        var story = try story()
        #expect(story.hear([tony.pointer]).map(\.word) == ["+tony"])
        #expect(try story.wait(milliseconds: 19).isEmpty)
        #expect(story.types(asked: tony.name).isEmpty)
        #expect(try story.wait(milliseconds: 1).isEmpty)
        #expect(story.types(asked: tony.name).sorted() == ["SRV", "TXT"])
        #expect(story.hear([tony.service(), tony.text("a=b")]).isEmpty)
        #expect(try story.wait(milliseconds: 20).isEmpty)
        #expect(story.types(asked: tony.host).sorted() == ["A", "AAAA"])
        #expect(story.hear([tony.address4, tony.address6]).map(\.word) == [whole])
    }

    @Test(
        "Nothing is asked of 2000 services whose records follow their list by 25 to 60 ms, and once of what is still missing"
    )
    func burst() throws {
        let services = Numbered()
        var story = try story(.once)
        for first in stride(from: 0, to: 2000, by: 50) {
            _ = story.hear((first..<first + 50).map { services.pointer($0) })
        }
        _ = try story.wait(milliseconds: 25)
        for first in stride(from: 0, to: 1990, by: 20) {
            _ = story.hear((first..<min(first + 20, 1990)).flatMap { services.all($0) })
            if first % 60 == 0 { _ = try story.wait(milliseconds: 1) }
        }
        #expect(story.asked.allSatisfy { $0.question.type == .ptr }, "\(story.asked.count)")
        _ = try story.wait(milliseconds: 100)
        let names = story.asked.filter { $0.question.type != .ptr }
        #expect(names.count == 20 && Set(names.map(\.question.type)) == [.srv, .txt])
    }

    @Test("Who sends records without end holds up no question for more than 0.3 s")
    func endless() throws {
        let services = Numbered()
        var story = try story()
        _ = story.hear((0..<40).map { services.pointer($0) })
        for number in 0..<40 where story.types(asked: services.name(39)).isEmpty {
            _ = story.hear([services.pointer(100 + number)])
            _ = try story.wait(milliseconds: 10)
        }
        #expect(story.asked.first { $0.question.type == .srv }.map { (300...310).contains($0.after) } ?? false)
    }

    @Test("Addresses of one family are told 20 ms after they are known, and the other's are asked for twice")
    func oneFamily() throws {
        var story = try story()
        let records = [tony.pointer, tony.service(), tony.text("a=b"), tony.address4]
        #expect(story.hear(records).map(\.word) == ["+tony"])
        #expect(try story.wait(milliseconds: 20).map(\.word) == ["tony=mac.local:9000 10.0.0.1 a=b"])
        #expect(try story.wait(milliseconds: 60_000).isEmpty)
        #expect(story.types(asked: tony.host) == ["AAAA", "AAAA"])
        #expect(story.hear([tony.address6]).map(\.word) == [whole])
    }

    @Test("Who asks once is told once: an answer that came over IPv6 lacks the A record, which has time to come")
    func once() throws {
        for comes in [true, false] {
            var story = try story(.once)
            let records = [tony.pointer, tony.service(), tony.text("a=b"), tony.address6]
            #expect(story.hear(records).map(\.word) == ["+tony"])
            #expect(try story.wait(milliseconds: 1100).isEmpty)
            #expect(story.types(asked: tony.host) == ["A", "A"], "its host may have said it a moment ago")
            if comes {
                #expect(story.hear([tony.address4]).map(\.word) == [whole])
                #expect(try story.wait(milliseconds: 500).isEmpty)
            } else {
                #expect(try story.wait(milliseconds: 520).map(\.word) == ["tony=mac.local:9000 fe80::1 a=b"])
            }
        }
    }

    @Test("Who asks once and lost packets waits anew for the A record, which may have been in them")
    func onceAfterLoss() throws {
        var story = try story(.once)
        _ = story.hear([tony.pointer, tony.service(), tony.text("a=b"), tony.address6])
        #expect(try story.wait(milliseconds: 1300).isEmpty)
        story.lose()
        #expect(try story.wait(milliseconds: 1300).isEmpty)
        #expect(story.hear([tony.address4]).map(\.word) == [whole])
    }

    @Test("RFC 6762 §6.1: who says that there are no addresses of the other family is not asked, and not waited for")
    func denied() throws {
        var story = try story()
        let none = ResourceRecord(
            tony.host, .nsec, .nsec(next: tony.host, types: [.a]), ttl: 120, flushesCache: true)
        let facts = story.hear([tony.pointer, tony.service(), tony.text("a=b"), tony.address4, none])
        #expect(facts.map(\.word) == ["+tony", "tony=mac.local:9000 10.0.0.1 a=b"])
        #expect(try story.wait(milliseconds: 50_000).isEmpty)
        #expect(story.types(asked: tony.host).isEmpty)
    }

    @Test(
        "RFC 6762 §10.1: a goodbye is told after a second; with the host's addresses it is no withdrawal"
    )
    func goodbye() throws {
        let itself = [tony.pointer, tony.service(), tony.text("a=b")]
        for (records, word) in [(itself, "withdrawn tony"), (tony.all, "-tony")] {
            var story = try story()
            _ = story.hear(tony.all)
            #expect(try story.wait(milliseconds: 5000).isEmpty)
            #expect(story.hear(records.map(\.goodbye)).isEmpty)
            #expect(try story.wait(milliseconds: 999).isEmpty)
            #expect(try story.wait(milliseconds: 1).map(\.word) == [word])
        }
    }

    @Test("A responder that starts anew: its addresses are back before its services, which is no withdrawal")
    func restarted() throws {
        var story = try story()
        _ = story.hear(tony.all)
        _ = try story.wait(milliseconds: 5000)
        _ = story.hear(tony.all.map(\.goodbye))
        _ = try story.wait(milliseconds: 900)
        _ = story.hear([tony.address4, tony.address6])
        #expect(try story.wait(milliseconds: 100).map(\.word) == ["-tony"])
    }

    @Test(
        "A service that is published anew: its name is probed for within a second of its goodbye, which is no withdrawal"
    )
    func republished() throws {
        var story = try story()
        _ = story.hear(tony.all)
        _ = try story.wait(milliseconds: 5000)
        _ = story.hear([tony.pointer, tony.service(), tony.text("a=b")].map(\.goodbye))
        _ = try story.wait(milliseconds: 500)
        story.hearProbe(for: tony.service(port: 9001))
        #expect(try story.wait(milliseconds: 500).map(\.word) == ["-tony"])
    }

    @Test("A goodbye that is taken back within a second is not told")
    func revoked() throws {
        var story = try story()
        _ = story.hear(tony.all)
        _ = story.hear(tony.all.map(\.goodbye))
        _ = try story.wait(milliseconds: 900)
        #expect(story.hear(tony.all).isEmpty)
        #expect(try story.wait(milliseconds: 30_000).isEmpty)
    }

    @Test(
        "RFC 6763 §4.1: what leads to another type, another domain, below a name or to the type itself is no service",
        arguments: [
            "tony._http._tcp.local", "tony._witap._tcp.example.com", "a.b._witap._tcp.local", "_witap._tcp.local",
            "local",
        ])
    func misleading(_ name: String) throws {
        var story = try story()
        #expect(story.hear([tony.pointer(to: DomainName(text: name))]).isEmpty)
        #expect(try story.wait(milliseconds: 10_000).isEmpty)
        #expect(Set(story.asked.map(\.question.name)) == [tony.type])
    }

    @Test("The case of letters makes no difference")
    func folded() throws {
        var story = try story()
        let name = DomainName(text: "Tony._WiTap._TCP.Local")
        let pointer = ResourceRecord(DomainName(text: "_WITAP._tcp.LOCAL"), .ptr, .ptr(name), ttl: 4500)
        #expect(story.hear([pointer]).map(\.word) == ["+Tony"])
        #expect(story.hear(tony.all).map(\.word) == ["Tony=mac.local:9000 10.0.0.1,fe80::1 a=b"])
    }

    @Test("What is asked for three times and does not answer has failed; what answers later is resolved")
    func unanswered() throws {
        var story = try story()
        _ = story.hear([tony.pointer])
        #expect(try story.wait(milliseconds: 3299).isEmpty)
        #expect(try story.wait(milliseconds: 1).map(\.word) == ["failed tony"])
        #expect(try story.wait(milliseconds: 30_000).isEmpty)
        #expect(story.hear(tony.all).map(\.word) == [whole])
    }

    @Test("RFC 6762 §10.2: new records take the place of old ones at once, in one change")
    func changes() throws {
        var story = try story()
        _ = story.hear(tony.all)
        _ = try story.wait(milliseconds: 5000)
        #expect(story.hear([tony.text("a=c")]).map(\.word) == ["tony=mac.local:9000 10.0.0.1,fe80::1 a=c"])
        #expect(try story.wait(milliseconds: 5000).isEmpty)
        let moved = story.hear([tony.service(port: 9001)])
        #expect(moved.map(\.word) == ["tony=mac.local:9001 10.0.0.1,fe80::1 a=c"])
        #expect(try story.wait(milliseconds: 5000).isEmpty)
    }

    @Test("RFC 6762 §10.2: another address of a host counts at once, and the one before for another second")
    func addresses() throws {
        var story = try story()
        _ = story.hear(tony.all)
        _ = try story.wait(milliseconds: 5000)
        let other = ResourceRecord(tony.host, .a, .a(0x0A00_0002), ttl: 120, flushesCache: true)
        #expect(story.hear([other]).map(\.word) == ["tony=mac.local:9000 10.0.0.1,10.0.0.2,fe80::1 a=b"])
        #expect(try story.wait(milliseconds: 900).isEmpty)
        #expect(try story.wait(milliseconds: 200).map(\.word) == ["tony=mac.local:9000 10.0.0.2,fe80::1 a=b"])
    }

    @Test(
        "A host that is not heard any more is asked for at 80, 85, 90 and 95 % of its records' lives, and then has failed"
    )
    func silent() throws {
        var story = try story()
        _ = story.hear(tony.all)
        let facts = try story.wait(milliseconds: 121_000)
        #expect(facts.map(\.word) == ["failed tony"])
        #expect(story.types(asked: tony.host).count { $0 == "A" } >= 4)
        #expect(story.types(asked: tony.name).count { $0 == "SRV" } >= 4)
        #expect(story.hear([tony.service(), tony.address4, tony.address6]).map(\.word) == [whole])
    }

    @Test("Names alone: nothing but the list is asked, and how a service ends is told nonetheless")
    func namesOnly() throws {
        var story = try story(.none)
        #expect(story.hear([tony.pointer]).map(\.word) == ["+tony"])
        #expect(try story.wait(milliseconds: 5000).isEmpty)
        #expect(Set(story.asked.map(\.question.type)) == [.ptr])
        #expect(story.hear(Array(tony.all.dropFirst())).isEmpty)
        _ = story.hear([tony.pointer.goodbye, tony.service().goodbye])
        #expect(try story.wait(milliseconds: 1000).map(\.word) == ["withdrawn tony"])
    }

    @Test("Own is what this machine alone says: another's address for it ends that")
    func own() throws {
        var story = try story()
        #expect(story.hear(tony.all, isOwn: true).map(\.word) == ["+tony own", whole])
        let foreign = ResourceRecord(tony.host, .a, .a(0x7F00_0001), ttl: 120)
        #expect(
            story.hear([foreign]).map(\.word) == [
                "+tony", "tony=mac.local:9000 10.0.0.1,127.0.0.1,fe80::1 a=b",
            ])
    }

    @Test("A link that goes hides what was seen there")
    func hidden() throws {
        var story = try story()
        _ = story.hear(tony.all)
        #expect(story.hide().map(\.word) == ["hidden tony"])
    }

    @Test("One name: SRV and TXT are asked at once, and it appears with its first resolution")
    func oneName() throws {
        var story = try storyOfOne()
        #expect(try story.wait(milliseconds: 0).isEmpty)
        #expect(story.asked.map(\.after) == [0, 0])
        #expect(story.types(asked: tony.name).sorted() == ["SRV", "TXT"])
        #expect(story.hear(Array(tony.all.dropFirst())).map(\.word) == ["+tony", whole])
        _ = story.hear([tony.service().goodbye])
        #expect(try story.wait(milliseconds: 1000).map(\.word) == ["withdrawn tony"])
        #expect(story.hear([tony.service()]).map(\.word) == ["+tony", whole])
    }

    @Test("A port of 0 is told: there is nothing to dial (RFC 2782)")
    func noPort() throws {
        var story = try story()
        let facts = story.hear([tony.pointer, tony.service(port: 0), tony.text("a=b")])
        #expect(facts.map(\.word) == ["+tony"])
        #expect(try story.wait(milliseconds: 20).map(\.word) == ["tony=mac.local:0  a=b"])
    }
}
