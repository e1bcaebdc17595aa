package import DNSSD
internal import Discovery

/// The numbered changes of one query. Only those that still matter are kept: the last of each present
/// service, and a bounded number of ends.
///
/// A reader is a number. A slow one costs nothing, sees only the latest state of each service, and misses nothing, unless
/// ends that it has not seen were forgotten.
package struct ChangeLog: Sendable {
    private struct Live {
        var service: DiscoveredService
        let added: UInt64
        var changed: UInt64
    }

    private struct End {
        let service: DiscoveredService
        let added: UInt64
    }

    private struct Place {
        let number: UInt64
        let instance: ServiceInstance
    }

    private let endLimit: Int
    /// The number of the last change.
    package private(set) var head: UInt64 = 0
    /// Everything known at the start, or when the backend came back, has been reported.
    package private(set) var isSettled = false
    /// The last state of the backend.
    package private(set) var backend = BackendState.available
    /// The last notice of something left out.
    package private(set) var degraded: (text: String, number: UInt64)?
    private var live: [ServiceInstance: Live] = [:]
    private var ends: [UInt64: End] = [:]
    /// Sorted by number; a place is void when the service has a later one.
    private var places: [Place] = []
    /// The number of the last end that is no longer kept.
    private var forgotten: UInt64 = 0

    package init(endLimit: Int = 4096) { self.endLimit = endLimit }

    package var count: Int { live.count }

    /// The present services, in the order found.
    package var services: [DiscoveredService] { live.values.sorted { $0.added < $1.added }.map(\.service) }

    package mutating func apply(_ event: ServiceEvent) {
        head += 1
        switch event {
        case .found(let service), .changed(let service):
            let added = live[service.instance]?.added ?? head
            live[service.instance] = Live(service: service, added: added, changed: head)
            places.append(Place(number: head, instance: service.instance))
        case .lost(let service):
            guard let old = live.removeValue(forKey: service.instance) else { return }
            live.giveBack()
            ends[head] = End(service: service, added: old.added)
            places.append(Place(number: head, instance: service.instance))
        case .settled: isSettled = true
        case .backend(let state):
            backend = state
            // What came while it was away is unknown until it has listed again.
            // What is still left out is reported again, too.
            if state == .recovered { (isSettled, degraded) = (false, nil) }
        case .degraded(let text): degraded = (text, head)
        }
        tidy()
    }

    /// Nothing is left out now. It counts as a change: answers are made again.
    mutating func endDegraded() {
        head += 1
        degraded = nil
    }

    /// The changes after a number, `limit` at most, each with its own number; nil when some are no longer known.
    ///
    /// - Parameter base: up to where the reader has seen everything; smaller than `number` while it catches up. It may have seen
    ///   what was found since: that is reported as found again, and its end in any case.
    package func changes(
        after number: UInt64,
        base: UInt64,
        atMost limit: Int
    ) -> [(number: UInt64, event: ServiceEvent)]? {
        guard number == 0 || number >= forgotten else { return nil }
        var changes: [(number: UInt64, event: ServiceEvent)] = []
        var index = firstPlace(after: number)
        while index < places.count, changes.count < limit {
            let place = places[index]
            index += 1
            if let end = ends[place.number] {
                // A reader that never saw the service does not need its removal.
                if end.added <= base || number > base { changes.append((place.number, .lost(end.service))) }
            } else if let now = live[place.instance], now.changed == place.number {
                changes.append((place.number, now.added > base ? .found(now.service) : .changed(now.service)))
            }
        }
        return changes
    }

    private func firstPlace(after number: UInt64) -> Int {
        var (low, high) = (0, places.count)
        while low < high {
            let middle = (low + high) / 2
            if places[middle].number <= number { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Drops void places and the oldest ends once half of the places may be such: cheap on average.
    private mutating func tidy() {
        guard places.count > 2 * (live.count + endLimit) else { return }
        var surplus = max(ends.count - endLimit, 0)
        places = places.filter { place in
            guard ends[place.number] != nil else { return live[place.instance]?.changed == place.number }
            guard surplus > 0 else { return true }
            surplus -= 1
            ends[place.number] = nil
            forgotten = place.number
            return false
        }
    }
}
