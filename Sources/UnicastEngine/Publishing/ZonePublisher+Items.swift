import DNSMessage
import DNSSD
import Discovery

// The publisher's services, one by one: reports, refusals, and names.

extension ZonePublisher {
    mutating func report(_ number: Int, _ state: PublicationFact.State) {
        guard let item = items[number], item.service != nil, item.stage == .wanted else { return }
        let fact = PublicationFact(name: item.name, state: state)
        guard fact != item.told else { return }
        items[number]?.told = fact
        steps.append(.report(registration: number, fact))
    }

    /// The server refuses a service, which ends it if it was never established and is not persistent.
    mutating func refuse(_ number: Int, _ error: DiscoveryError) {
        guard let item = items[number] else { return }
        guard item.service != nil, item.stage == .wanted, !item.wasEstablished, !item.isPersistent else {
            return report(number, .refused(error))
        }
        end(number, .failed(error))
    }

    /// Reports a final state, and removes what the server may have of the service.
    mutating func end(_ number: Int, _ state: PublicationFact.State) {
        report(number, state)
        withdraw(number)
    }

    mutating func retryLater(_ number: Int, _ now: Duration) {
        let jitter = random.fraction()
        guard let delay = items[number]?.delay.failed(jitter) else { return }
        items[number]?.retryAt = now + delay
    }

    /// Tries now what was refused: a publisher is gone that may have had the names.
    mutating func retry() {
        for number in items.keys where items[number]?.stage == .wanted && items[number]?.retryAt != nil {
            items[number]?.retryAt = nil
            items[number]?.delay.succeeded()
        }
    }

    /// Forgets an item of which nothing is left in the zone.
    mutating func forget(_ number: Int) {
        release(number)
        roomWasMade()
        guard let item = items.removeValue(forKey: number), item.service != nil else { return }
        steps.append(.gone(registration: number))
    }

    /// Gives up an item's name.
    mutating func release(_ number: Int) {
        guard let item = items[number], item.holdsName else { return }
        items[number]?.holdsName = false
        holders[item.names.instance] = nil
        entries[item.names.shard] -= item.names.entries.count
    }

    /// Adds the item of an earlier process.
    /// - Returns: its number.
    mutating func add(_ item: PublishedItem) -> Int {
        lastItem += 1
        items[lastItem] = item
        return lastItem
    }
}

extension PublishedItem {
    /// Marks the service to be sent again.
    mutating func changed() {
        version += 1
        isConfirmed = false
    }
}

extension ZonePublisher {
    /// Whether something is in the zone, may be, or is to be.
    var hasAnything: Bool { !items.isEmpty || !hostsToRemove.isEmpty || host.mayExist || lease.mayExist }

    /// Whether the host's addresses are needed.
    var needsAddresses: Bool { items.values.contains { $0.stage == .wanted } }

    /// When the lease ends, so that others may take the records back; nil without a lease.
    var leaseEnd: Duration? { lease.isHeld ? lease.endsAt : nil }

    /// The state of publishing, for `ZoneStatus`.
    var state: ZoneStatus.State {
        switch trouble {
        case .waiting(let reason): .waiting(reason)
        case .refused(let error): .refused(error)
        case nil: lease.isHeld ? .held : .starting
        }
    }
}
