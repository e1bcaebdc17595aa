import DNSMessage
import DNSSD
import Discovery

// Publishes services: many in a message, and each alone after a message is refused.

extension ZonePublisher {
    mutating func sendPublications(_ now: Duration) {
        var batch: [Int] = []
        var size = 0
        for number in items.keys.sorted() {
            guard room > 0 else { return }
            guard let item = items[number], item.isOutdated, item.isReady(now), let host = hosts[item.role],
                host.isThere
            else { continue }
            guard !item.isAlias else {
                aliasIsThere(number, item, host, now)
                continue
            }
            guard takeName(number, now) else { continue }
            guard let item = items[number], isClear(item, number, now) else { continue }
            if item.isAlone {
                send([number])
                continue
            }
            if batch.count == Self.mostInMessage || size + item.size > Self.messageSize {
                if !batch.isEmpty { send(batch) }
                (batch, size) = ([], 0)
            }
            batch.append(number)
            size += item.size
        }
        if !batch.isEmpty, room > 0 { send(batch) }
    }

    /// Returns whether a service may be sent: enough is known of its name's owner, and its type's list has room.
    /// Otherwise asks for what is missing.
    private mutating func isClear(_ item: ItemClaim, _ number: Int, _ now: Duration) -> Bool {
        switch item.state {
        case .mine: return true
        case .removing, .clearing, .forgetting: return false
        case .unclear:
            items[number]?.began()
            send(.owner(number), .ask(item.names.instance, .dhcid))
            return false
        case .free: break
        }
        switch lists.room(for: item.names, now) {
        case .unknown:
            if lists.asks(for: item.names.list) { send(.listing(item.names.list), .ask(item.names.list, .ptr)) }
            return false
        case .full(let count):
            lists.forget(item.names.list)
            putOff(number, now, listIsFull(item, count))
            return false
        case .free: break
        }
        guard !honesty.doubts(item.names.instance) else {
            items[number]?.began()
            send(.name(number), .ask(item.names.instance, .dhcid))
            return false
        }
        lists.add(item.names)
        return true
    }

    private func listIsFull(_ item: ItemClaim, _ count: Int) -> DiscoveryError {
        let type = item.service.map { "\($0.type)" } ?? "a type"
        return DiscoveryError(
            .serverLimitReached,
            "the server has \(count) services of \(type) in \(layout.domain) and takes no more of one type; a sub-domain has room"
        )
    }

    private mutating func send(_ numbers: [Int]) {
        var versions: [Int: Int] = [:]
        let request = records.update(numbers.first.flatMap { items[$0] }?.names.instance) { update in
            update.requireExists(records.lease, .txt)
            for number in numbers {
                guard let item = items[number], let target = hosts[item.role]?.name else { continue }
                records.write(item, on: target, to: &update)
                versions[number] = item.version
            }
        }
        for number in versions.keys { items[number]?.sent() }
        send(.publication(versions), request)
    }

    mutating func published(_ versions: [Int: Int], _ reply: ZoneReply, _ now: Duration) {
        for number in versions.keys { items[number]?.answered() }
        switch reply {
        case .outcome(.done) where honesty.isProven: established(versions)
        case .outcome(.done): prove(versions)
        case .outcome(.unheard): for number in versions.keys { items[number]?.unheard() }
        default:
            for number in versions.keys { items[number]?.refused() }
            guard versions.count == 1, let number = versions.keys.first else { return }
            refused(number, reply, now)
        }
    }

    mutating func established(_ versions: [Int: Int]) {
        for (number, version) in versions.sorted(by: { $0.key < $1.key }) {
            items[number]?.established(version)
            report(number, .established)
        }
    }

    /// Handles the refusal of a message with this item alone.
    private mutating func refused(_ number: Int, _ reply: ZoneReply, _ now: Duration) {
        guard let item = items[number], item.isWanted else { return }
        switch reply {
        case .outcome(.nameInUse): items[number]?.becameUnclear()
        case .outcome(.notAsRequired):
            lease.doubt()
            if item.isOwn { items[number]?.becameUnclear() }
        case .outcome(.serverFailed):
            items[number]?.began()
            send(.limit(number), .ask(item.names.list, .ptr))
        case .outcome(.refused(let error)):
            lists.forget(item.names.list)
            putOff(number, now, error)
        default: break
        }
    }

    mutating func limitRead(_ number: Int, _ reply: ZoneReply, _ now: Duration) {
        items[number]?.answered()
        guard case .records(let answer) = reply, let item = items[number] else { return }
        lists.forget(item.names.list)
        let count = answer.targets.count
        let isFull = count >= ZoneLayout.mostRecords
        putOff(number, now, isFull ? listIsFull(item, count) : .init(.backendFailed, records.serverFailure))
    }

    /// Tries again later, and reports why.
    mutating func putOff(_ number: Int, _ now: Duration, _ error: DiscoveryError) {
        items[number]?.retryLater(now, jitter: random.fraction())
        refuse(number, error)
    }

    // MARK: Names

    /// Takes the name that an item wants, if no other item of this publisher holds it; renames the item otherwise.
    /// - Returns: whether the item holds its name.
    private mutating func takeName(_ number: Int, _ now: Duration) -> Bool {
        while let item = items[number], item.isWanted {
            guard let other = names.holder(of: item.names.instance) else {
                if let error = noRoom(for: item.names.entries.count, in: item.names.shard) {
                    putOff(number, now, error)
                    return false
                }
                take(leftovers.takeOver(item.names.instance), for: number)
                return true
            }
            if other == number { return true }
            guard let holder = items[other], !holder.isWanted else {
                guard collided(number, now) else { return false }
                continue
            }
            // The holder is being removed.
            guard !holder.isUnderWay else { return false }
            forget(other)
            take(holder.isRemoving ? holder.names : nil, for: number)
        }
        return false
    }

    /// Returns why more entries have no room in a shard of the manifest; nil if they have.
    func noRoom(for more: Int, in shard: Int) -> DiscoveryError? {
        let services = names.entries(in: shard)
        let aliases = hosts.aliases(in: shard)
        guard services + aliases + more > ZoneLayout.mostRecords else { return nil }
        return DiscoveryError(
            .serverLimitReached,
            "this machine has \(services + aliases) services and aliases in one part of its list in \(layout.domain), and more than \(ZoneLayout.mostRecords) are not taken"
        )
    }

    /// An item has the name it wants, and what an earlier item or process left under it.
    private mutating func take(_ earlier: InstanceNames?, for number: Int) {
        guard let item = items[number] else { return }
        names.hold(item.names, for: number)
        if let earlier { items[number]?.takeOver(earlier) }
    }

    mutating func ownerRead(_ number: Int, _ reply: ZoneReply, _ now: Duration) {
        items[number]?.answered()
        guard case .records(let owners) = reply, let item = items[number], item.isWanted else { return }
        let own = records.owner(of: item.names.instance)
        switch items[number]?.ownerRead(owners, own: own, isHonest: honesty.isProven) {
        case .usable, nil: break
        case .leftOut: putOff(number, now, records.leftOut)
        case .taken: _ = collided(number, now)
        }
    }

    /// The name is another publisher's: tries the next one, or gives up.
    /// - Returns: whether there is a next name to try.
    mutating func collided(_ number: Int, _ now: Duration) -> Bool {
        guard let item = items[number], let service = item.service else { return false }
        names.release(item.names, of: number)
        items[number]?.lostName()
        if item.policy == .rename, item.renames < Self.mostRenames, let name = nextName(item, service),
            let names = InstanceNames(service, as: name)
        {
            items[number]?.renameAfterConflict(name, names)
            report(number, .registering)
            return true
        }
        let text =
            item.renames == 0 ? "the name \(item.name) is taken" : "\(item.renames) names up to \(item.name) are taken"
        let error = DiscoveryError(.nameTaken, text)
        guard items[number]?.gaveUp() == true else {
            end(number, .conflicted(error))
            return false
        }
        // An alias is tried again when its claim is.
        if !item.isAlias { items[number]?.retryLater(now, jitter: random.fraction()) }
        report(number, .refused(error))
        return false
    }

    /// The name after a conflict.
    private func nextName(_ item: ItemClaim, _ service: OfferedService) -> ServiceName? {
        item.isAlias
            ? OfferedService.name(after: item.name, ofAlias: true)
            : honesty.failsForNames ? service.name.hyphenated(item.renames + 2) : item.name.nextAfterCollision()
    }

    /// The server was asked for the owner of a name of uncommon characters, before anything is published under it.
    mutating func nameAnswered(_ number: Int, _ reply: ZoneReply, _ now: Duration) {
        items[number]?.answered()
        switch reply {
        case .records: honesty.answeredForName()
        case .outcome(.serverFailed):
            guard honesty.failedForName(items[number]?.wasAnsweredNot == true) else {
                items[number]?.wasNotAnswered()
                items[number]?.retryLater(now, jitter: random.fraction())
                return
            }
            guard let item = items[number], item.isWanted, let service = item.service else { return }
            // The number alone is what it cannot answer for: `web #2`.
            if item.renames > 0, let name = service.name.hyphenated(item.renames + 1),
                let names = InstanceNames(service, as: name), names.instance.isCommon
            {
                self.names.release(item.names, of: number)
                items[number]?.rename(name, names)
                return report(number, .registering)
            }
            let text =
                "the server of \(layout.root) cannot answer questions for \(item.name) (SERVFAIL), so that nobody would find it: PowerDNS knows names of letters, digits, spaces and - _ . : / @ * \\ alone"
            putOff(number, now, DiscoveryError(.misconfigured, text))
        case .outcome(.refused(let error)): putOff(number, now, error)
        case .outcome: break
        }
    }

    // MARK: Proof that the server has what it says that it has

    /// Sends conditions alone, for one service of a message: everything that it needs is there. Services are established when they hold.
    private mutating func prove(_ versions: [Int: Int]) {
        guard let number = versions.keys.min(), let item = items[number], let host = hosts[item.role],
            let target = host.name
        else { return established(versions) }
        for number in versions.keys {
            items[number]?.unheard()
            items[number]?.began()
        }
        guard honesty.claims(versions) else { return }
        send(.proof(versions), records.require(item.names, on: target, host.writtenFamilies))
    }

    mutating func proofReceived(_ proven: [Int: Int], _ reply: ZoneReply, _ now: Duration) {
        let versions = proven.merging(honesty.looked()) { $1 }
        for number in versions.keys { items[number]?.answered() }
        switch reply {
        case .outcome(.notAsRequired):
            lease.doubt()
            for number in versions.keys { items[number]?.wasLeftOut() }
            guard honesty.missed() else { return }
            for number in versions.keys where items[number]?.isWanted == true { putOff(number, now, records.leftOut) }
        case .outcome(.unheard): break
        case .outcome(.serverFailed):
            for number in versions.keys {
                items[number]?.becameUnclear()
                items[number]?.retryLater(now, jitter: random.fraction())
                report(number, .waiting(records.serverFailure))
            }
        // A server that refuses conditions says nothing of what it has.
        default:
            honesty.found()
            established(versions)
        }
    }
}

extension ServiceName {
    /// `web-2`, as hosts are numbered.
    fileprivate func hyphenated(_ number: Int) -> ServiceName? {
        let suffix = "-\(number)"
        var base = text
        while base.utf8.count + suffix.utf8.count > ServiceName.maximumLength { base.removeLast() }
        return try? ServiceName(base + suffix)
    }
}
