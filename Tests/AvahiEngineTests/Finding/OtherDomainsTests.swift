import AvahiEngine
import DNSSD
import Discovery
import DiscoverySystem
import HostEngine
import Testing

@Suite struct OtherDomainsTests {
    @Test func onTheLinkLocalAloneIsSearched() async throws {
        let other = try Domain("example.org")
        for finder in AvahiUse.Finder.allCases where finder != .wire {
            let engine = try HostEngine(finder).engine
            #expect(engine.finds(in: .local) && !engine.finds(in: other))
            await engine.shutdown()
        }
    }
}
