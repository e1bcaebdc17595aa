import DNSSD
import Discovery
import DiscoveryDaemon
import DiscoveryJSON
import DiscoverySystem
import Testing

@Suite struct HealthTests {
    private let full = "the cache is full"

    @Test func whatIsOverIsNotToldAnyMore() {
        let troubles = Locked(["the cache is full"])
        let feed = QueryFeed(id: 1) { troubles.withLock { $0 } }
        feed.apply([.settled, .degraded(full)])
        #expect(feed.degraded == full)
        troubles.withLock { $0 = [] }
        #expect(feed.degraded == nil)
        // What a query itself left out stays missing until everything has been listed again.
        feed.apply([.degraded("more than 4096 services")])
        #expect(feed.degraded == "more than 4096 services")
        feed.apply([.backend(.lost("gone"))])
        #expect(feed.degraded != nil)
        feed.apply([.backend(.recovered)])
        #expect(feed.degraded == nil)
    }

    @Test func everythingThatIsWrongIsAmongTheReasons() {
        let omissions = Locked(["the cache is full"])
        let health = BackendHealth { omissions.withLock { $0 } }
        health.became(.available, [.finder, .publisher])
        #expect(health.reasons == [full])
        health.note("state", "disk full")
        for id in ["a", "b"] { health.note(registration: id, "not permitted") }
        health.note(registration: "c", "taken")
        #expect(
            health.reasons == [
                "disk full", "2 services are not published: not permitted", "a service is not published: taken", full,
            ])
        for id in ["a", "b", "c"] { health.note(registration: id, nil) }
        health.note("state", nil)
        omissions.withLock { $0 = [] }
        #expect(health.reasons.isEmpty)
    }

    @Test func whatFindsAndWhatPublishesAreMissedByThemselves() {
        let health = BackendHealth()
        #expect(health.reasons == ["what finds has not answered yet"])
        health.became(.available, [.finder])
        health.became(.unavailable("no bus"), [.publisher])
        #expect(health.reasons.isEmpty, "nothing is to be published")
        health.note(publications: 1)
        #expect(health.reasons == ["services cannot be published: no bus"])
        health.note(publications: 0)
        health.became(.available, [.publisher])
        health.became(.lost("gone"), [.publisher])
        #expect(health.reasons == ["services cannot be published: gone"], "what was there is missed")
        health.became(.lost("gone"), [.finder])
        #expect(health.reasons == ["nothing finds or publishes: gone"], "one that is both is told once")
        health.became(.available, [.publisher])
        #expect(health.reasons == ["services cannot be found: gone"])
    }

    @Test func reasonsAreBounded() {
        let health = BackendHealth()
        health.became(.available, [.finder, .publisher])
        for number in 0..<1000 { health.note(registration: "\(number)", "reason \(number)") }
        #expect(health.reasons.count == 9 && health.reasons.last?.contains("1000 services") == true)
    }

    @Test func restartsAreCounted() {
        let health = BackendHealth()
        for state in [BackendState.available, .lost("x"), .recovered, .lost("x"), .recovered, .recovered] {
            health.became(state, [.publisher])
        }
        #expect(health.restarts == 2)
    }
}
