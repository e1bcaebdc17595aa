import DNSMessage
import DNSSD
import Discovery

// Publishes services: many in a message, and each alone after a message is refused.

extension ZonePublisher {
    /// How long a list counts after it was read.
    static let listMemory = Duration.seconds(60)

    mutating func sendPublications(_ now: Duration) {
        guard host.isThere, let target = hostName else { return }
        var batch: [Int] = []
        var size = 0
        for number in items.keys.sorted() {
            guard room > 0 else { return }
            guard let item = items[number], item.isOutdated, item.isReady(now), takeName(number, now) else { continue }
            guard let item = items[number], isClear(item, number, now) else { continue }
            if item.isAlone {
                send([number], target)
                continue
            }
            if batch.count == Self.mostInMessage || size + item.size > Self.messageSize {
                if !batch.isEmpty { send(batch, target) }
                (batch, size) = ([], 0)
            }
            batch.append(number)
            size += item.size
        }
        if !batch.isEmpty, room > 0 { send(batch, target) }
    }

    /// Returns whether a service may be sent: enough is known of its name's owner, and its type's list has room.
    /// Otherwise asks for what is missing.
    private mutating func isClear(_ item: PublishedItem, _ number: Int, _ now: Duration) -> Bool {
        switch item.claim {
        case .mine: return true
        case .unclear:
            items[number]?.isInFlight = true
            send(.owner(number), .ask(item.names.instance, .dhcid))
            return false
        case .free: break
        }
        let list = item.names.list
        guard let known = lists[list], now - known.readAt < Self.listMemory else {
            if listsAsked.insert(list).inserted { send(.listing(list), .ask(list, .ptr)) }
            return false
        }
        guard known.names.contains(item.names.instance) || known.names.count < ZoneLayout.mostServices else {
            lists[list] = nil
            retryLater(number, now)
            refuse(number, listIsFull(item, known.names.count))
            return false
        }
        guard honesty.answersAnyName || item.names.instance.isCommon else {
            items[number]?.isInFlight = true
            send(.name(number), .ask(item.names.instance, .dhcid))
            return false
        }
        lists[list]?.names.insert(item.names.instance)
        return true
    }

    private func listIsFull(_ item: PublishedItem, _ count: Int) -> DiscoveryError {
        let type = item.service.map { "\($0.type)" } ?? "a type"
        return DiscoveryError(
            .serverLimitReached,
            "the server has \(count) services of \(type) in \(layout.domain) and takes no more of one type; a sub-domain has room"
        )
    }

    mutating func listRead(_ list: DomainName, _ reply: ZoneReply, _ now: Duration) {
        listsAsked.remove(list)
        guard case .records(let records) = reply else { return }
        lists = lists.filter { now - $0.value.readAt < Self.listMemory }
        lists[list] = (Set(records.targets), now)
    }

    /// Takes the name that an item wants, if no other item of this publisher holds it; renames the item otherwise.
    /// - Returns: whether the item holds its name.
    private mutating func takeName(_ number: Int, _ now: Duration) -> Bool {
        while let item = items[number], item.stage == .wanted {
            if item.holdsName { return true }
            let needed = item.names.entries.count
            guard let other = holders[item.names.instance] else {
                guard entries[item.names.shard] + needed <= ZoneLayout.mostRecords else {
                    let error = DiscoveryError(
                        .serverLimitReached,
                        "this publisher has \(entries[item.names.shard]) services in one part of its list in \(layout.domain), and more than \(ZoneLayout.mostRecords) are not taken"
                    )
                    retryLater(number, now)
                    refuse(number, error)
                    return false
                }
                hold(number)
                takeOver(leftovers.remove(item.names.instance), by: number)
                return true
            }
            guard let holder = items[other], holder.stage != .wanted else {
                guard collided(number, now) else { return false }
                continue
            }
            // The holder is being removed.
            guard !holder.isInFlight else { return false }
            forget(other)
            takeOver(holder.stage == .removing ? holder.names : nil, by: number)
        }
        return false
    }

    mutating func hold(_ number: Int) {
        guard let names = items[number]?.names else { return }
        items[number]?.holdsName = true
        holders[names.instance] = number
        entries[names.shard] += names.entries.count
    }

    /// Takes over the records that an earlier item or process left under the same name.
    private mutating func takeOver(_ earlier: InstanceNames?, by number: Int) {
        guard let earlier, let item = items[number] else { return }
        items[number]?.claim = .mine
        items[number]?.mayExist = true
        items[number]?.staleSubtypes = earlier.subtypes.subtracting(item.names.subtypes)
    }

    private mutating func send(_ numbers: [Int], _ target: DomainName) {
        var update = ZoneUpdate()
        update.requireExists(layout.lease(of: id), .txt)
        var versions: [Int: Int] = [:]
        for number in numbers {
            guard let item = items[number], let service = item.service else { continue }
            write(item, service, target, to: &update)
            versions[number] = item.version
            items[number]?.isInFlight = true
            items[number]?.mayExist = true
            items[number]?.retryAt = nil
        }
        let subject = numbers.first.flatMap { items[$0] }.map { "\($0.names.instance)" } ?? ""
        send(.publication(versions), .update(update, subject: subject))
    }

    private func write(
        _ item: PublishedItem, _ service: OfferedService, _ target: DomainName, to update: inout ZoneUpdate
    ) {
        let names = item.names
        if case .mine = item.claim {
            update.require(names.instance, .dhcid, id.ownership(of: names.instance))
        } else {
            update.requireUnused(names.instance)
        }
        for list in [names.list] + names.subtypes.sorted(by: { $0.description < $1.description }) {
            update.add(list, .ptr, .ptr(names.instance), ttl: ttl)
        }
        update.add(layout.types, .ptr, .ptr(names.list), ttl: ttl)
        let location = RecordData.srv(priority: 0, weight: 0, port: service.port.rawValue, target: target)
        update.replace(names.instance, .srv, with: location, ttl: ttl)
        // The strings have been checked to be short enough.
        let text = (try? TextStrings.data(of: service.txt.strings)) ?? [0]
        update.replace(names.instance, .txt, with: .txt(text), ttl: ttl)
        update.replace(names.instance, .dhcid, with: id.ownership(of: names.instance), ttl: ttl)
        let manifest = layout.manifest(names.shard, of: id)
        for entry in names.entries { update.add(manifest, .ptr, .ptr(entry), ttl: ttl) }
        if !item.staleSubtypes.isEmpty {
            for list in item.staleSubtypes { update.delete(list, .ptr, .ptr(names.instance)) }
            var stale = names
            stale.subtypes = item.staleSubtypes
            update.forget(Array(stale.entries.dropFirst()), in: names.shard, of: id, layout)
        }
    }

    mutating func published(_ versions: [Int: Int], _ reply: ZoneReply, _ now: Duration) {
        for number in versions.keys { items[number]?.isInFlight = false }
        switch reply {
        case .outcome(.done) where honesty.isProven: established(versions)
        case .outcome(.done): prove(versions)
        case .outcome(.unheard):
            for number in versions.keys { items[number]?.wasUnheard = true }
        default:
            for number in versions.keys {
                guard let item = items[number] else { continue }
                if item.acknowledged == 0, !item.wasUnheard { items[number]?.mayExist = false }
                items[number]?.isAlone = true
            }
            guard versions.count == 1, let number = versions.keys.first else { return }
            refused(number, reply, now)
        }
    }

    mutating func established(_ versions: [Int: Int]) {
        for (number, version) in versions.sorted(by: { $0.key < $1.key }) { established(number, version) }
    }

    private mutating func established(_ number: Int, _ version: Int) {
        guard items[number] != nil else { return }
        items[number]?.claim = .mine
        items[number]?.acknowledged = version
        items[number]?.staleSubtypes = []
        items[number]?.wasEstablished = true
        items[number]?.isUnproven = false
        items[number]?.isAlone = false
        items[number]?.renames = 0
        items[number]?.delay.succeeded()
        report(number, .established)
    }

    /// Handles the refusal of a message with this item alone.
    private mutating func refused(_ number: Int, _ reply: ZoneReply, _ now: Duration) {
        guard let item = items[number], item.stage == .wanted else { return }
        switch reply {
        case .outcome(.nameInUse): items[number]?.claim = .unclear
        case .outcome(.notAsRequired):
            lease.isDoubtful = true
            if case .mine = item.claim { items[number]?.claim = .unclear }
        case .outcome(.serverFailed):
            items[number]?.isInFlight = true
            send(.limit(number), .ask(item.names.list, .ptr))
        case .outcome(.refused(let error)):
            lists[item.names.list] = nil
            retryLater(number, now)
            refuse(number, error)
        default: break
        }
    }

    mutating func limitRead(_ number: Int, _ reply: ZoneReply, _ now: Duration) {
        items[number]?.isInFlight = false
        guard case .records(let records) = reply, let item = items[number] else { return }
        lists[item.names.list] = nil
        retryLater(number, now)
        let count = records.targets.count
        refuse(
            number,
            count >= ZoneLayout.mostRecords
                ? listIsFull(item, count) : DiscoveryError(.backendFailed, serverFailure))
    }

    mutating func ownerRead(_ number: Int, _ reply: ZoneReply, _ now: Duration) {
        items[number]?.isInFlight = false
        guard case .records(let owners) = reply, let item = items[number], item.stage == .wanted else { return }
        if owners == [id.ownership(of: item.names.instance)] {
            items[number]?.claim = .mine
        } else if owners.isEmpty, item.isUnproven, !honesty.isProven {
            // It is this publisher's, of which the server left the owner out: under another name the same would follow.
            items[number]?.claim = .free
            retryLater(number, now)
            refuse(number, recordsLeftOut)
        } else if owners.isEmpty, item.ownerless < 2 {
            // The name has become free, or its owner has no DHCID record; the next try tells.
            items[number]?.ownerless += 1
            items[number]?.claim = .free
        } else {
            _ = collided(number, now)
        }
    }

    /// The name is another publisher's: tries the next one, or gives up.
    /// - Returns: whether there is a next name to try.
    private mutating func collided(_ number: Int, _ now: Duration) -> Bool {
        guard let item = items[number], let service = item.service else { return false }
        let isKept = item.isPersistent || item.wasEstablished
        release(number)
        items[number]?.mayExist = false
        items[number]?.claim = .free
        items[number]?.acknowledged = 0
        items[number]?.ownerless = 0
        items[number]?.isUnproven = false
        items[number]?.wasUnanswered = false
        let name = item.policy == .rename && item.renames < Self.mostRenames ? nextName(item, service) : nil
        if let name, let names = InstanceNames(service, as: name) {
            items[number]?.renames += 1
            items[number]?.name = name
            items[number]?.names = names
            report(number, .registering)
            return true
        }
        let text =
            item.renames == 0 ? "the name \(item.name) is taken" : "\(item.renames) names up to \(item.name) are taken"
        let error = DiscoveryError(.nameTaken, text)
        guard item.policy == .rename ? isKept : item.isPersistent else {
            end(number, .conflicted(error))
            return false
        }
        if let names = InstanceNames(service, as: service.name) {
            items[number]?.name = service.name
            items[number]?.names = names
            items[number]?.renames = 0
        }
        // Next time its owner is asked for: a question where an update would be refused.
        if item.policy == .fail { items[number]?.claim = .unclear }
        retryLater(number, now)
        report(number, .refused(error))
        return false
    }
}
