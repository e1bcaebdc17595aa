import DNSSD
import Discovery
import DiscoveryDaemon
import DiscoveryJSON
import System
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
        let health = BackendHealth()
        let omissions = Locked(["the cache is full"])
        health.include { omissions.withLock { $0 } }
        health.became(.available)
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

    @Test func reasonsAreBounded() {
        let health = BackendHealth()
        health.became(.available)
        for number in 0..<1000 { health.note(registration: "\(number)", "reason \(number)") }
        #expect(health.reasons.count == 9 && health.reasons.last?.contains("1000 services") == true)
    }

    @Test func restartsAreCounted() {
        let health = BackendHealth()
        for state in [BackendState.available, .lost("x"), .recovered, .lost("x"), .recovered, .recovered] {
            health.became(state)
        }
        #expect(health.restarts == 2)
    }
}
