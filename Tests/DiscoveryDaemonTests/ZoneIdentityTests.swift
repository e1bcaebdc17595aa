#if Commands
import DNSSD
import Testing

@testable import discoverd_daemon

@Suite("Hosts of the link in a zone") struct ZoneIdentityTests {
    @Test("names that DNS tells apart are of several hosts, though Swift or Unicode takes them for one")
    func several() throws {
        let names = ["b\u{FC}ro.local", "bu\u{308}ro.local", "B\u{DC}RO.local"]
        let identities = try Set(names.map { ZoneExports.identity(of: try HostName($0)) })
        #expect(identities.count == names.count)
    }

    @Test("ASCII case makes no difference")
    func one() throws {
        #expect(ZoneExports.identity(of: try HostName("H1.local")) == "h1.local")
    }
}
#endif
