import DNSSD
import Discovery

/// Reports that the engine is up, which it is for its whole life.
final class StateOperation: QuerierOperation {
    private var report: ((EngineState) -> Void)?

    init(report: @escaping (EngineState) -> Void) { self.report = report }

    let wish = LinkWish(interfaces: .all, families: [])
    var deadline: Duration? { nil }

    func begin(at now: Duration) {}
    func linkCame(_ link: Link, at now: Duration) {}
    func linkWent(_ link: Link, at now: Duration) {}
    func linksAreKnown(at now: Duration) {}
    func changed(_ changes: [RecordCache.Change], on link: Link, at now: Duration) {}
    func asked(on link: Link, at now: Duration) {}
    func lost(on link: Link) {}
    func degraded(_ text: String) {}
    func advance(to now: Duration) {}
    var wanted: [Int] { [] }
    func keep(atMost limit: Int, at now: Duration) {}
    func end() { report = nil }

    func flush() {
        report?(.up)
        report = nil
    }
}
