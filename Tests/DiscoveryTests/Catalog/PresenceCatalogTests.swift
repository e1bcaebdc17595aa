import DNSSD
import Discovery
import Testing

private typealias Presences = PresenceCatalog<String>

extension [Change<Listing<String>>] {
    fileprivate var words: [String] { map { $0.word(\.key) } }
}

private func path(_ index: UInt32) -> Origin { .link(NetworkInterface(index: index, name: "eth\(index)")) }

@Suite struct PresenceCatalogTests {
    @Test func aTypeIsToldOnceAfterAMoment() {
        var catalog = Presences()
        _ = catalog.apply(.backend(.up), now: .zero)
        #expect(catalog.apply(.appeared("a", path(1)), now: .zero) == [])
        #expect(catalog.apply(.appeared("a", path(2)), now: .milliseconds(10)) == [])
        #expect(catalog.nextDeadline == .milliseconds(30))
        let told = catalog.tick(now: .milliseconds(30))
        #expect(told.words == ["+a"])
        #expect(catalog.snapshot.first.map { Set($0.origins) } == [path(1), path(2)])
        #expect(catalog.apply(.appeared("a", path(3)), now: .seconds(1)) == [])
        #expect(catalog.nextDeadline == nil)
    }

    @Test func theListEndsTheWaitAndSettlesOnce() {
        var catalog = Presences()
        _ = catalog.apply(.backend(.up), now: .zero)
        _ = catalog.apply(.appeared("a", path(1)), now: .zero)
        _ = catalog.apply(.appeared("b", path(1)), now: .zero)
        #expect(catalog.apply(.listed, now: .zero).words == ["+a", "+b", "settled"])
        #expect(catalog.apply(.listed, now: .zero) == [])
    }

    @Test func anEndIsHeldBack() {
        var catalog = Presences()
        _ = catalog.apply(.backend(.up), now: .zero)
        _ = catalog.apply(.appeared("a", path(1)), now: .zero)
        _ = catalog.apply(.listed, now: .zero)
        #expect(catalog.apply(.disappeared("a", path(1)), now: .zero) == [])
        #expect(catalog.tick(now: .milliseconds(3090)) == [])
        #expect(catalog.apply(.appeared("a", path(1)), now: .milliseconds(3090)) == [])
        #expect(catalog.apply(.disappeared("a", path(1)), now: .seconds(4)) == [])
        #expect(catalog.tick(now: .milliseconds(7200)).words == ["-a"])
    }

    @Test func whatOurOwnLinkHidesIsHeldForTenSeconds() {
        var catalog = Presences()
        _ = catalog.apply(.backend(.up), now: .zero)
        _ = catalog.apply(.appeared("a", path(1)), now: .zero)
        _ = catalog.apply(.listed, now: .zero)
        #expect(catalog.apply(.hidden("a", path(1)), now: .zero) == [])
        #expect(catalog.tick(now: .milliseconds(9990)) == [])
        #expect(catalog.tick(now: .seconds(10)).words == ["-a"])
    }

    @Test func aLostBackendRemovesNothing() {
        var catalog = Presences()
        _ = catalog.apply(.backend(.up), now: .zero)
        _ = catalog.apply(.appeared("a", path(1)), now: .zero)
        _ = catalog.apply(.appeared("b", path(1)), now: .zero)
        _ = catalog.apply(.listed, now: .zero)
        #expect(catalog.apply(.backend(.down("away")), now: .zero).words == ["backend lost"])
        #expect(catalog.tick(now: .seconds(100)) == [])
        #expect(catalog.apply(.backend(.up), now: .seconds(100)).words == ["backend recovered"])
        _ = catalog.apply(.appeared("a", path(1)), now: .seconds(100))
        #expect(!catalog.isSettled)
        #expect(catalog.apply(.listed, now: .seconds(100)).words == ["settled"])
        #expect(catalog.tick(now: .milliseconds(103_200)).words == ["-b"])
    }

    @Test func whatIsStillLeftOutIsToldAgainWhenTheBackendIsBack() {
        var catalog = Presences()
        let isTold = { (changes: [Change<Listing<String>>]) in changes.contains(.degraded("two too many")) }
        _ = catalog.apply(.backend(.up), now: .zero)
        #expect(isTold(catalog.apply(.degraded("two too many"), now: .zero)))
        #expect(!isTold(catalog.apply(.degraded("two too many"), now: .seconds(1))))
        _ = catalog.apply(.backend(.down("away")), now: .seconds(2))
        _ = catalog.apply(.backend(.up), now: .seconds(3))
        #expect(isTold(catalog.apply(.degraded("two too many"), now: .seconds(3))))
    }
}
