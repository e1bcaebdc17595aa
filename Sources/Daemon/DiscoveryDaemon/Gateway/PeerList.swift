internal import DNSSD
internal import Discovery
internal import DiscoveryControl
package import DiscoverySystem

/// What daemons of other sites are told: a gateway's target that publishes nothing, and answers those who follow it.
package final class PeerList: ExportTarget {
    private let feed = QueryFeed(id: 1)
    /// Those who follow it keep what they know: it may be a restart.
    private let isOver = Locked(false)
    private let epoch = UInt32.random(in: .min ... .max)
    /// Who follows it: a name for each connection.
    package let callers = Locked<[String]>([])
    /// Why nobody can; nil when all is well.
    package let hindrance = Locked<String?>("it does not listen yet")

    package init() {}

    package var connected: [String] { Set(callers.withLock { $0 }).sorted() }
    package var trouble: String? { hindrance.withLock { $0 } }

    package func publish(_ export: Export) -> any ExportedService {
        tell(.found(export.told))
        return Told(export, self)
    }

    private func tell(_ change: Change<DiscoveredService>) { if !isOver.withLock({ $0 }) { feed.apply([change]) } }

    /// All that was there at the start is in the list.
    package func isComplete() { tell(.settled) }

    package func end() {
        isOver.withLock { $0 = true }
        feed.close()
    }

    /// The services that are told.
    package var count: Int { feed.count }

    /// Answers one of them. Nothing else of this daemon can be asked for, and nothing be changed.
    package func respond(_ request: ControlRequest) -> ControlAnswer {
        do throws(ControlError) {
            switch request.path {
            case ["v1", "ping"]:
                try request.takes(["GET", "HEAD"])
                return .json { _ in }
            case ["v1", "services", "watch"]:
                let query = try request.takes(["GET"]).query
                try query.allow(["domain", "resolve"])
                let lease = OpenQueries.Lease(feed: feed, membership: Membership {})
                return .lines(
                    status: 200,
                    WatchLines(
                        lease, LogReader(), try ControlResponder.ServiceRequest(query), epoch: epoch,
                        atMost: ConnectionTable.Limits().watchBytes, view: nil))
            default: throw ControlError(404, "no-such-resource", "other sites are told services, and nothing else")
            }
        } catch {
            return .error(error)
        }
    }

    private final class Told: ExportedService {
        private let last: Locked<DiscoveredService>
        private let list: PeerList

        init(_ export: Export, _ list: PeerList) { (last, self.list) = (Locked(export.told), list) }

        func change(to export: Export) {
            last.withLock { $0 = export.told }
            list.tell(.changed(export.told))
        }

        func withdraw(within limit: Duration) async { list.tell(.lost(last.withLock { $0 })) }
    }
}

extension Export {
    /// The service as it is told: without interfaces, which mean nothing elsewhere.
    fileprivate var told: DiscoveredService {
        DiscoveredService(
            instance: service.instance, subtypes: service.subtypes, state: .resolved, host: linkHost,
            port: service.port, txt: service.txt,
            endpoints: addresses.map { Endpoint(address: $0, port: service.port, interface: nil) })
    }
}
