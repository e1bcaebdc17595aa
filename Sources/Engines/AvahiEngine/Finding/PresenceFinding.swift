import DNSSD
import Discovery

/// Finds types or domains, which are present if they are seen over either family.
final class PresenceFinding<Key: Hashable & Sendable>: BrowserFinding {
    typealias Fact = PresenceFact<Key>
    typealias MakeBrowser =
        (AvahiConnection, @escaping (BrowserEvent<Key>) -> Void) throws(DiscoveryError) -> AvahiLookup

    let subject: String
    private let batch: FactBatch<Fact>
    private let makeBrowser: MakeBrowser

    init(_ subject: String, report: FactBatch<Fact>, makeBrowser: @escaping MakeBrowser) {
        self.subject = subject
        batch = report
        self.makeBrowser = makeBrowser
    }

    func browser(
        on connection: AvahiConnection, report: @escaping (BrowserEvent<Key>) -> Void
    ) throws(DiscoveryError) -> AvahiLookup {
        try makeBrowser(connection, report)
    }

    func appeared(_ key: Key, _ path: AvahiPath, at origin: Origin, isFirst: Bool) {
        if isFirst { batch.add(.appeared(key, origin)) }
    }

    func disappeared(_ key: Key, _ path: AvahiPath, at origin: Origin, isLast: Bool, isHidden: Bool) {
        if isLast { batch.add(isHidden ? .hidden(key, origin) : .disappeared(key, origin)) }
    }

    func linksChanged() {}
    func clear() {}
}
