import DNSMessage
import DNSSD
import Discovery

// Withdraws services in two steps: first their records; then the manifest's entries, which until then show that
// something is left to be done, and the type, if no other service has it.

extension ZonePublisher {
    /// - Parameter kept: the names of this machine that something is on.
    mutating func sendRemovals(_ now: Duration, _ kept: Set<HostRole>) {
        for (number, item) in items where item.isRemoving && !item.isUnderWay {
            let isGone = hosts[item.role] == nil && !leftovers.has(host: item.names.instance)
            guard item.isAlias ? isGone || kept.contains(item.role) : !item.mayExist else { continue }
            forget(number)
        }
        var batch: [Int] = []
        for number in items.keys.sorted() {
            guard room > 0 else { return }
            guard let item = items[number], item.isRemoving, !item.isAlias, item.isReady(now) else { continue }
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
        let removed = numbers.compactMap { items[$0]?.names }
        let request = records.update(removed.first?.instance) { update in
            for names in removed { update.remove(names, of: id) }
        }
        for number in numbers { items[number]?.began() }
        send(.removal(numbers), request)
    }

    mutating func recordsRemoved(_ numbers: [Int], _ reply: ZoneReply, _ now: Duration) {
        for number in numbers { items[number]?.answered() }
        switch reply {
        case .outcome(.unheard): return
        case .outcome(.done): for number in numbers { removed(number) }
        // The records are not this publisher's, or an earlier answer was lost.
        case .outcome(.notAsRequired) where numbers.count == 1: for number in numbers { removed(number) }
        default:
            for number in numbers {
                items[number]?.refused()
                if numbers.count == 1 { items[number]?.retryLater(now, jitter: random.fraction()) }
            }
        }
    }

    private mutating func removed(_ number: Int) {
        items[number]?.removed()
        if let list = items[number]?.names.list { lists.forget(list) }
        roomWasMade()
    }

    /// What was refused for want of room is tried now.
    mutating func roomWasMade() {
        for (number, item) in items {
            guard case .refused(let error) = item.reported?.state, error.code == .serverLimitReached else { continue }
            items[number]?.retrySoon()
        }
    }

    private mutating func sendClearings(_ now: Duration) {
        let busy = Set(items.values.filter(\.isRemoving).map(\.names.list))
        let kept = Set(items.values.filter { $0.isWanted && $0.mayExist }.map(\.names.list))
        var byType: [DomainName: [Int]] = [:]
        var entriesOnly: [Int] = []
        for (number, item) in items.sorted(by: { $0.key < $1.key })
        where item.isClearing && item.isReady(now) && !busy.contains(item.names.list) {
            if item.keepsType || kept.contains(item.names.list) {
                items[number]?.typeIsNeeded()
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
        let cleared = numbers.compactMap { items[$0] }
        let request = records.update(cleared.first?.names.instance) { update in
            if let first = cleared.first, !first.keepsType { update.removeType(first.names.list, layout) }
            for item in cleared { update.forget(item.names, of: id, layout) }
        }
        for number in numbers { items[number]?.began() }
        send(.clearing(numbers), request)
    }

    mutating func itemsCleared(_ numbers: [Int], _ reply: ZoneReply, _ now: Duration) {
        for number in numbers { items[number]?.answered() }
        switch reply {
        case .outcome(.unheard): return
        case .outcome(.done): for number in numbers { forget(number) }
        // There are other services of the type.
        case .outcome(.recordsExist): for number in numbers { items[number]?.typeIsNeeded() }
        default: for number in numbers { items[number]?.retryLater(now, jitter: random.fraction()) }
        }
    }
}
