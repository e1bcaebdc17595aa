import DNSMessage
import DNSSD
import Discovery

// Withdraws services in two steps: first their records; then the manifest's entries, which until then show that
// something is left to be done, and the type, if no other service has it.

extension ZonePublisher {
    mutating func sendRemovals(_ now: Duration) {
        for (number, item) in items where item.stage == .removing && !item.mayExist && !item.isInFlight {
            forget(number)
        }
        var batch: [Int] = []
        for number in items.keys.sorted() {
            guard room > 0 else { return }
            guard let item = items[number], item.stage == .removing, item.isReady(now) else { continue }
            if item.isAlone {
                remove([number])
                continue
            }
            batch.append(number)
            if batch.count == Self.mostInMessage {
                remove(batch)
                batch = []
            }
        }
        if !batch.isEmpty, room > 0 { remove(batch) }
        sendClearings(now)
    }

    private mutating func remove(_ numbers: [Int]) {
        var update = ZoneUpdate()
        for number in numbers {
            guard let names = items[number]?.names else { continue }
            update.remove(names, of: id)
            items[number]?.isInFlight = true
            items[number]?.retryAt = nil
        }
        send(.removal(numbers), .update(update, subject: subject(of: numbers)))
    }

    private func subject(of numbers: [Int]) -> String {
        numbers.first.flatMap { items[$0] }.map { "\($0.names.instance)" } ?? ""
    }

    mutating func recordsRemoved(_ numbers: [Int], _ reply: ZoneReply, _ now: Duration) {
        for number in numbers { items[number]?.isInFlight = false }
        switch reply {
        case .outcome(.unheard): return
        case .outcome(.done): for number in numbers { removed(number) }
        // The records are not this publisher's, or an earlier answer was lost.
        case .outcome(.notAsRequired) where numbers.count == 1: for number in numbers { removed(number) }
        default:
            for number in numbers {
                items[number]?.isAlone = true
                if numbers.count == 1 { retryLater(number, now) }
            }
        }
    }

    private mutating func removed(_ number: Int) {
        items[number]?.stage = .clearing
        items[number]?.isAlone = false
        items[number]?.keepsType = false
        roomWasMade(in: items[number]?.names.list)
    }

    /// What was refused for want of room is tried now.
    mutating func roomWasMade(in list: DomainName? = nil) {
        if let list { lists[list] = nil }
        for (number, item) in items where item.stage == .wanted && item.retryAt != nil {
            guard case .refused(let error) = item.told?.state, error.code == .serverLimitReached else { continue }
            items[number]?.retryAt = nil
            items[number]?.delay.succeeded()
        }
    }

    private mutating func sendClearings(_ now: Duration) {
        let busy = Set(items.values.filter { $0.stage == .removing }.map(\.names.list))
        let kept = Set(items.values.filter { $0.stage == .wanted && $0.mayExist }.map(\.names.list))
        var byType: [DomainName: [Int]] = [:]
        var entriesOnly: [Int] = []
        for (number, item) in items.sorted(by: { $0.key < $1.key })
        where item.stage == .clearing && item.isReady(now) && !busy.contains(item.names.list) {
            if item.keepsType || kept.contains(item.names.list) {
                items[number]?.keepsType = true
                entriesOnly.append(number)
            } else {
                byType[item.names.list, default: []].append(number)
            }
        }
        for numbers in byType.values.sorted(by: { $0[0] < $1[0] }) + [entriesOnly] where !numbers.isEmpty && room > 0 {
            clear(Array(numbers.prefix(Self.mostInMessage)))
        }
    }

    private mutating func clear(_ numbers: [Int]) {
        var update = ZoneUpdate()
        for (place, number) in numbers.enumerated() {
            guard let item = items[number] else { continue }
            if place == 0, !item.keepsType { update.removeType(item.names.list, layout) }
            update.forget(item.names, of: id, layout)
            items[number]?.isInFlight = true
            items[number]?.retryAt = nil
        }
        send(.clearing(numbers), .update(update, subject: subject(of: numbers)))
    }

    mutating func itemsCleared(_ numbers: [Int], _ reply: ZoneReply, _ now: Duration) {
        for number in numbers { items[number]?.isInFlight = false }
        switch reply {
        case .outcome(.unheard): return
        case .outcome(.done): for number in numbers { forget(number) }
        // There are other services of the type.
        case .outcome(.recordsExist): for number in numbers { items[number]?.keepsType = true }
        default: for number in numbers { retryLater(number, now) }
        }
    }

    // MARK: Leftovers of an earlier process with the same id

    mutating func readManifest(_ now: Duration) {
        for shard in unread.subtracting(unreadInFlight).sorted() where room > 0 {
            unreadInFlight.insert(shard)
            send(.manifest(shard), .ask(layout.manifest(shard, of: id), .ptr))
        }
        if unread.isEmpty, let due = leftoversDueAt, due <= now { takeLeftovers(now) }
    }

    mutating func manifestRead(_ shard: Int, _ reply: ZoneReply, _ now: Duration) {
        unreadInFlight.remove(shard)
        guard case .records(let records) = reply else { return }
        unread.remove(shard)
        for name in records.targets { leftovers.add(name, in: layout) }
        for (instance, names) in leftovers.instances {
            guard let holder = holders[instance], let item = items[holder] else { continue }
            _ = leftovers.remove(instance)
            guard item.stage == .wanted else { continue }
            let stale = names.subtypes.subtracting(item.names.subtypes)
            guard !stale.isEmpty else { continue }
            items[holder]?.staleSubtypes = stale
            items[holder]?.changed()
        }
        if unread.isEmpty { leftoversDueAt = leftovers.isEmpty ? nil : now + Self.grace }
    }

    /// Removes the leftovers that have not been published again.
    mutating func takeLeftovers(_ now: Duration) {
        leftoversDueAt = nil
        let current = host.mayExist || host.isThere ? hostName : nil
        for name in leftovers.hosts where name != current { hostsToRemove[name] = false }
        for (instance, names) in leftovers.instances where holders[instance] == nil {
            var item = PublishedItem(name: ServiceName(observed: ""), names: names, stage: .removing)
            item.mayExist = true
            let number = add(item)
            hold(number)
        }
        leftovers = Holdings()
    }
}
