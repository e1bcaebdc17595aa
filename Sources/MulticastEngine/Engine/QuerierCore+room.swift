import DNSSD
import Discovery

// One budget for all that the network makes this process keep: who keeps little is not concerned, the others have equal shares.
extension QuerierCore {
    /// The bytes of records, on all links together.
    private static let bytes = RecordCache.Limits().bytes
    /// The services of all queries, on all links together. Each is a service of a query, too, of its answers and its subscribers.
    private static let services = 32_768
    /// The shortest interval between two looks.
    private static let interval = Duration.milliseconds(100)

    func shareOut(at now: Duration) {
        guard sharedOut.map({ now - $0 >= Self.interval }) ?? true else { return }
        sharedOut = now
        let bytes = min(Crowd.share(of: links.values.map(\.querier.cache.wanted), in: Self.bytes), Self.bytes)
        for link in links.values where link.querier.cache.limits.bytes != bytes {
            spread(link.querier.keep(atMost: bytes, at: now), on: link, at: now)
        }
        let services = Crowd.share(of: operations.inOrder.flatMap(\.wanted), in: Self.services)
        guard services != servicesShare else { return }
        servicesShare = services
        tell { $0.keep(atMost: services, at: now) }
    }
}
