import DNSMessage
import DNSSD
import Discovery
import MulticastEngine
import Testing

@Suite("A service of which not all is said, or not well")
struct PartialServiceTests {
    private let tony = Tony()

    private func story(_ resolution: ServiceQuery.Resolution = .watch) throws -> LinkStory {
        try LinkStory(ServiceQuery(.type(try ServiceType("_witap._tcp"), .local), resolution: resolution))
    }

    private func address(_ bits: UInt32) -> ResourceRecord {
        ResourceRecord(tony.host, .a, .a(bits), ttl: 120, flushesCache: false)
    }

    private func address(_ high: UInt64, _ low: UInt64) -> ResourceRecord {
        ResourceRecord(tony.host, .aaaa, .aaaa(high: high, low: low), ttl: 120, flushesCache: false)
    }

    @Test(
        "SRV and TXT without an address: after 3.3 s host, port and TXT are told; an address that comes later resolves it"
    )
    func withoutAddress() throws {
        var story = try story()
        #expect(story.hear([tony.pointer, tony.service(), tony.text("a=b")]).map(\.word) == ["+tony"])
        #expect(try story.wait(milliseconds: 3299).isEmpty)
        #expect(try story.wait(milliseconds: 1).map(\.word) == ["tony=mac.local:9000  a=b", "failed tony"])
        #expect(
            story.hear([tony.address4, tony.address6]).map(\.word) == ["tony=mac.local:9000 10.0.0.1,fe80::1 a=b"])
    }

    @Test(
        "asked for by name, one without an address is told 2 s after its SRV record; an address resolves it, and its end is told"
    )
    func oneWithoutAddress() throws {
        let instance = ServiceInstance(name: try ServiceName("tony"), type: try ServiceType("_witap._tcp"))
        for (resolution, resolves) in [(.once, true), (.watch, true), (.watch, false)]
            as [(ServiceQuery.Resolution, Bool)]
        {
            var story = try LinkStory(ServiceQuery(.instance(instance), resolution: resolution))
            #expect(try story.wait(milliseconds: 900).isEmpty)
            #expect(story.hear([tony.service(), tony.text("a=b")]).isEmpty)
            #expect(try story.wait(milliseconds: 1999).isEmpty)
            #expect(
                try story.wait(milliseconds: 1).map(\.word) == ["+tony", "tony=mac.local:9000  a=b", "failed tony"])
            #expect(try story.wait(milliseconds: 60_000).isEmpty)
            if resolves {
                let facts = story.hear([tony.address4, tony.address6])
                #expect(facts.map(\.word) == ["tony=mac.local:9000 10.0.0.1,fe80::1 a=b"])
            }
            #expect(try story.wait(milliseconds: 130_000).map(\.word) == [resolves ? "withdrawn tony" : "-tony"])
        }
    }

    @Test(
        "asked for by name, one that has an address of one family is not without; one that comes back without any is told after 2 s"
    )
    func oneWithAddress() throws {
        let instance = ServiceInstance(name: try ServiceName("tony"), type: try ServiceType("_witap._tcp"))
        var story = try LinkStory(ServiceQuery(.instance(instance), resolution: .once))
        #expect(story.hear([tony.service(), tony.text("a=b")]).isEmpty)
        #expect(try story.wait(milliseconds: 600).isEmpty)
        #expect(story.hear([tony.address6]).isEmpty)
        #expect(try story.wait(milliseconds: 2000).map(\.word) == ["+tony", "tony=mac.local:9000 fe80::1 a=b"])
        #expect(try story.wait(milliseconds: 130_000).map(\.word).last?.hasSuffix("tony") == true)
        #expect(story.hear([tony.service(), tony.text("a=b")]).isEmpty)
        #expect(try story.wait(milliseconds: 2000).map(\.word) == ["+tony", "tony=mac.local:9000  a=b", "failed tony"])
    }

    @Test(
        "RFC 6762 §6.1: an SRV record that is denied has failed at once; a host that denies both families has no address"
    )
    func denials() throws {
        func nothing(of name: DomainName, but types: TypeBitmap) -> ResourceRecord {
            ResourceRecord(name, .nsec, .nsec(next: name, types: types), ttl: 120, flushesCache: true)
        }
        var one = try story()
        #expect(one.hear([tony.pointer, nothing(of: tony.name, but: [.txt])]).map(\.word) == ["+tony", "failed tony"])
        #expect(one.hear(tony.all).map(\.word) == ["tony=mac.local:9000 10.0.0.1,fe80::1 a=b"])
        var other = try story()
        let service = [tony.pointer, tony.service(), tony.text("a=b"), nothing(of: tony.host, but: [.txt])]
        #expect(other.hear(service).map(\.word) == ["+tony", "tony=mac.local:9000  a=b"])
    }

    @Test("0.0.0.0, ::, multicast and broadcast addresses are no host's; who dials one service says so himself")
    func oddAddresses() throws {
        let odd = [address(0), address(0xE000_0001), address(.max), address(0, 0), address(0xFF02 << 48, 1)]
        let service = [tony.pointer, tony.service(), tony.text("a=b")]
        var list = try story()
        #expect(list.hear(service + odd).map(\.word) == ["+tony"])
        #expect(list.hear([tony.address4]).map(\.word) == ["tony=mac.local:9000 10.0.0.1 a=b"])
        let instance = ServiceInstance(name: try ServiceName("tony"), type: try ServiceType("_witap._tcp"))
        var one = try LinkStory(ServiceQuery(.instance(instance)))
        #expect(one.hear(service + odd).contains { $0.word.contains("0.0.0.0,224.0.0.1,255.255.255.255") })
    }

    @Test("a host's name in Latin-1 is resolved, by escape")
    func hostBytes() throws {
        let host = try DomainName(labels: [[0x42, 0xFC, 0x72, 0x6F], Array("local".utf8)])
        let data = RecordData.srv(priority: 0, weight: 0, port: 9000, target: host)
        var story = try story()
        let facts = story.hear([
            tony.pointer, ResourceRecord(tony.name, .srv, data, ttl: 120), tony.text("a=b"),
            ResourceRecord(host, .a, .a(0x0A00_0001), ttl: 120),
            ResourceRecord(host, .aaaa, .aaaa(high: 1, low: 1), ttl: 120),
        ])
        #expect(facts.map(\.word) == ["+tony", "tony=B\\252ro.local:9000 10.0.0.1,::1:0:0:0:1 a=b"])
    }

    @Test(
        "services' names that are not UTF-8 are left out, and counted in a notice: the first, and each time they double"
    )
    func nameBytes() throws {
        var story = try story()
        var told: [BrowseFact] = []
        for number in 0..<9 {
            let name = try DomainName(labels: [[0xFC, 0x30 + UInt8(number)]] + tony.type.labels)
            told += story.hear([tony.pointer(to: name), tony.pointer(to: name)])
        }
        let texts = told.compactMap { if case .degraded(let text) = $0 { text } else { nil } }
        #expect(texts.count == told.count && texts.count == 4)
        #expect(texts.first == "a service whose name is not UTF-8 on eth0: left out")
        #expect(texts.last == "8 services whose names are not UTF-8 on eth0: left out")
    }
}
