import DNSSD
import Testing

@testable import AvahiEngine

/// One name is this machine's or another host's, and not both, whatever avahi-daemon takes.
@Suite struct HostClaimsTests {
    @Test func theFirstCounts() throws {
        let nas = try HostName("nas-iot.local")
        var claims = HostClaims()
        let others = [claims.claim(nas, asAlias: false), claims.claim(try HostName("NAS-iot.local"), asAlias: false)]
        #expect(others == [true, true], "services of one host")
        claims.release(nas, asAlias: false)
        let early = claims.claim(nas, asAlias: true)
        #expect(!early)
        claims.release(nas, asAlias: false)
        let alias = [claims.claim(nas, asAlias: true), claims.claim(nas, asAlias: false)]
        #expect(alias == [true, false])
        claims.release(nas, asAlias: true)
        let again = claims.claim(nas, asAlias: false)
        #expect(again)
    }
}
