import DNSMessage
import DNSSD
import Discovery

// What is wanted, one by one, and how it stands.

extension ZonePublisher {
    mutating func report(_ number: Int, _ state: PublicationFact.State) {
        guard let item = items[number], item.service != nil, item.stage == .wanted else { return }
        let fact = PublicationFact(name: item.name, state: state)
        guard fact != item.told else { return }
        items[number]?.told = fact
        steps.append(.report(registration: number, fact))
    }

    /// The server refuses a service: that ends what was never established, unless it is to persist.
    mutating func refuse(_ number: Int, _ error: DiscoveryError) {
        guard let item = items[number] else { return }
        guard item.service != nil, item.stage == .wanted, !item.wasEstablished, !item.isPersistent else {
            return report(number, .refused(error))
        }
        end(number, .failed(error))
    }

    /// A last report; what the server may have of it goes.
    mutating func end(_ number: Int, _ state: PublicationFact.State) {
        report(number, state)
        withdraw(number)
    }

    mutating func retryLater(_ number: Int, _ now: Duration) {
        let jitter = random.fraction()
        guard let delay = items[number]?.delay.failed(jitter) else { return }
        items[number]?.retryAt = now + delay
    }

    /// Nothing of an item is left.
    mutating func forget(_ number: Int) {
        release(number)
        guard let item = items.removeValue(forKey: number), item.service != nil else { return }
        steps.append(.gone(registration: number))
    }

    /// Gives up its name.
    mutating func release(_ number: Int) {
        guard let item = items[number], item.holdsName else { return }
        items[number]?.holdsName = false
        holders[item.names.instance] = nil
        entries[item.names.shard] -= item.names.entries.count
    }

    /// An earlier process' item has a number, too.
    mutating func add(_ item: PublishedItem) -> Int {
        lastItem += 1
        items[lastItem] = item
        return lastItem
    }
}

extension PublishedItem {
    /// It is to be sent again.
    mutating func changed() {
        version += 1
        isConfirmed = false
    }
}

extension ZonePublisher {
    /// Something is in the zone, or may be.
    var hasAnything: Bool { !items.isEmpty || !hostsToRemove.isEmpty || host.mayExist || lease.mayExist }

    /// A host is there, or is to be.
    var needsAddresses: Bool { items.values.contains { $0.stage == .wanted } }

    /// When others may take back what is there; nil while nothing is.
    var leaseEnd: Duration? { lease.isHeld ? lease.endsAt : nil }

    /// How publishing stands.
    var state: ZoneStatus.State {
        switch trouble {
        case .waiting(let reason): .waiting(reason)
        case .refused(let error): .refused(error)
        case nil: lease.isHeld ? .held : .starting
        }
    }
}
