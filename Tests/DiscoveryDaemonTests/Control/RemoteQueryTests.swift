import DNSSD
import Discovery
import DiscoveryJSON
import DiscoverySystem
import Testing

@testable import DiscoveryControl

@Suite("One of the daemon's streams") struct RemoteQueryTests {
    @Test("interfaces are asked for again with each line: an adapter that comes back has another index")
    func namesOfEachLine() {
        let used = Locked<[InterfaceNames]>([])
        let told = Locked(0)
        let query = RemoteQuery<BrowseFact>(atMost: 10) { json, names throws(JSONShapeError) in
            used.withLock { $0.append(names) }
            return try DiscoveredService(line: json, names)
        }
        _ = query.join(reporting: { facts in told.withLock { $0 += facts.count } })
        for event in ["added", "updated"] {
            let line = """
                {"v":1,"event":"\(event)","service":{"name":"a","type":"_xx._tcp","domain":"local","interfaces":["lo"]}}
                """
            query.handle(.line(Array(line.utf8)))
        }
        let names = used.withLock { $0 }
        #expect(names.count == 2)
        #expect(names.first !== names.last)
        #expect(told.withLock { $0 } > 0)
    }
}
