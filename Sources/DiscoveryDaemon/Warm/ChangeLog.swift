package import DNSSD

/// The changes of one query, numbered, of which only those are kept that still matter: the last of each service that is
/// there, and a bounded number of ends.
///
/// A reader is a number. However slow it is it costs nothing, is told only what came of a service, and misses nothing, unless
/// ends that it was not told have been forgotten.
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
    /// Everything known at the start, or when the backend came back, has been told.
    package private(set) var isSettled = false
    /// What was told last of the backend.
    package private(set) var backend = BackendState.available
    /// What was left out, told last.
    package private(set) var degraded: (text: String, number: UInt64)?
    private var live: [ServiceInstance: Live] = [:]
    private var ends: [UInt64: End] = [:]
    /// In the order of their numbers; a place is void when the service has a later one.
    private var places: [Place] = []
    /// The number of the last end that is not kept any more.
    private var forgotten: UInt64 = 0

    package init(endLimit: Int = 4096) { self.endLimit = endLimit }

    package var count: Int { live.count }

    /// The services that are there, in the order they were found.
    package var services: [DiscoveredService] { live.values.sorted { $0.added < $1.added }.map(\.service) }

    package subscript(instance: ServiceInstance) -> DiscoveredService? { live[instance]?.service }

    package mutating func apply(_ event: ServiceEvent) {
        head += 1
        switch event {
        case .found(let service), .changed(let service):
            let added = live[service.instance]?.added ?? head
            live[service.instance] = Live(service: service, added: added, changed: head)
            places.append(Place(number: head, instance: service.instance))
        case .lost(let service):
            guard let old = live.removeValue(forKey: service.instance) else { return }
            ends[head] = End(service: service, added: old.added)
            places.append(Place(number: head, instance: service.instance))
        case .settled: isSettled = true
        case .backend(let state):
            backend = state
            // What came while it was away is not known before it has listed again.
            // What is still left out is told of again, too.
            if state == .recovered { (isSettled, degraded) = (false, nil) }
        case .degraded(let text): degraded = (text, head)
        }
        tidy()
    }

    /// Nothing is left out any more. It counts as a change: answers are made anew.
    mutating func endDegraded() {
        head += 1
        degraded = nil
    }

    /// The changes after a number, `limit` at most, each with its own; nil when some are not known any more.
    ///
    /// - Parameter base: up to where the reader was told everything; it is smaller than `number` while it catches up. What was
    ///   found since, it may have been told already: that is told as found again, and its end in any case.
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
                // Who was not told of it need not be told of its end.
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

    /// Drops void places and the oldest ends, when half of what is kept may be such: that costs nothing on the average.
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
