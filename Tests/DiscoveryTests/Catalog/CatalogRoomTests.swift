import DNSSD
import Discovery
import Testing

@Suite("A catalog of more than it keeps")
struct CatalogRoomTests {
    private func story(_ services: Int, perHost: Int = 64) throws -> CatalogStory {
        var limits = DiscoveryLimits()
        limits.services = services
        limits.servicesPerHost = perHost
        return CatalogStory(try typeQuery(), limits: limits)
    }

    private func add(_ name: String, on host: String, _ story: inout CatalogStory) throws -> [String] {
        story.tell(.appeared(try sighting(name)), .resolved(try resolution(name, host: host))).words
    }

    @Test("Names that nobody answers for give way to services, those that came last first")
    func bare() throws {
        var story = try story(20)
        for number in 0..<1000 { _ = story.tell(.appeared(try sighting("s\(number)"))) }
        #expect(try add("tony", on: "h1.local", &story) == ["+tony"])
        #expect(story.wait(.seconds(10)).words.sorted() == (0..<19).map { "+s\($0)" }.sorted())
        #expect(try add("bob", on: "h2.local", &story) == ["-s18", "+bob"])
        #expect(story.catalog.snapshot.count == 20)
    }

    @Test("What was left out is told when there is room again: what is resolved first, then in its order")
    func back() throws {
        var story = try story(3, perHost: 1)
        for number in 0..<3 { _ = try add("s\(number)", on: "h\(number).local", &story) }
        #expect(story.tell(.appeared(try sighting("bare"))).words == ["degraded"])
        #expect(try add("s3", on: "h3.local", &story).isEmpty)
        #expect(try add("s4", on: "h4.local", &story).isEmpty)
        // One that has left meanwhile is not told.
        _ = story.tell(.disappeared(try sighting("s3")))
        _ = story.wait(.seconds(10))
        _ = story.tell(.withdrawn(try sighting("s0")))
        #expect(story.wait(.seconds(1)).words == ["-s0", "+s4"])
        _ = story.tell(.withdrawn(try sighting("s1")))
        #expect(story.wait(.seconds(1)).words == ["-s1", "+bare"])
    }

    @Test("One sender under many names of hosts has the share of one")
    func sender() throws {
        var story = try story(4, perHost: 1)
        func announce(_ name: String, from sender: UInt16) throws -> [String] {
            var told = try resolution(name, host: "\(name).local")
            told.sender = sender
            return story.tell(.appeared(try sighting(name)), .resolved(told)).words
        }
        for number in 0..<8 { _ = try announce("s\(number)", from: 1) }
        #expect(try announce("tony", from: 2) == ["-s3", "+tony"])
    }

    @Test("A service for which there was no room at all is told when it is resolved")
    func forgotten() throws {
        var story = try story(16)
        for number in 0..<1000 { _ = story.tell(.appeared(try sighting("s\(number)"))) }
        for number in [250, 900, 600] {
            #expect(try story.tell(.resolved(resolution("s\(number)", host: "h.local"))).words == ["+s\(number)"])
        }
    }

    @Test("A late resolution of a service that was never sighted, or has left, lists nothing")
    func late() throws {
        var story = try story(16)
        for number in 0..<1000 { _ = story.tell(.appeared(try sighting("s\(number)"))) }
        _ = story.tell(.withdrawn(try sighting("s900")))
        for name in ["s900", "stranger"] {
            #expect(try story.tell(.resolved(resolution(name, host: "h.local"))).words.isEmpty)
        }
        #expect(try story.tell(.resolved(resolution("s901", host: "h.local"))).words == ["+s901"])
    }

    @Test("The newest of the host that has most gives way")
    func largest() {
        var order = EvictionOrder<String, String>(share: 2)
        for name in ["a1", "a2", "a3"] { order.add(name, to: "a") }
        for name in ["b1", "b2", "b3", "b4", "b5"] { order.add(name, to: "b") }
        order.add("c1", to: nil)
        #expect(order.isWithinShare("c", with: "c1") && !order.isWithinShare("a", with: "a4"))
        #expect(order.takeUnresolved() == "c1")
        #expect(order.takeUnresolved() == nil)
        order.remove("b4")
        order.add("b4", to: "b")
        #expect([order.takeSpare(), order.takeSpare()] == ["b4", "b5"])
        #expect([order.takeSpare(), order.takeSpare()].compactMap(\.self).sorted() == ["a3", "b3"])
        #expect(order.takeSpare() == nil)
        order.add("c2", to: nil)
        order.add("c2", to: "c")
        #expect(order.takeUnresolved() == nil)
    }

    @Test("What most members have left gives their memory back, once, and keeps the rest")
    func memory() {
        var numbers = Dictionary(uniqueKeysWithValues: (0..<20_000).map { ($0, -$0) })
        for number in 3000..<20_000 { numbers[number] = nil }
        numbers.giveBack()
        // No longer so large that the next call would do it again.
        #expect(numbers.capacity < 3 * numbers.count)
        #expect(numbers == Dictionary(uniqueKeysWithValues: (0..<3000).map { ($0, -$0) }))
    }
}
