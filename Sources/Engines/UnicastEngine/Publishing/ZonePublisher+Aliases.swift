import DNSMessage
import DNSSD
import Discovery

// Further names of this machine. Their records are those of their claims; what is published is told what becomes of these.

extension ZonePublisher {
    /// The claim of an alias has the machine's addresses, or somebody else has written the same.
    mutating func aliasIsThere(_ number: Int, _ item: ItemClaim, _ host: HostClaim, _ now: Duration) {
        // What was found there without an owner is what was sent.
        guard host.isWritten || !item.isLeftOut else { return aliasIsLeftOut(number, item, now) }
        guard host.isWritten, !item.isOwn, let name = host.name else { return established([number: item.version]) }
        // A policy of a server may know other names than those of services that were looked at.
        items[number]?.began()
        send(.aliasProof(number, name, version: item.version), records.require(host: name, host.writtenFamilies))
    }

    /// The server leaves something of it out. What it has goes; the alias is tried again when its claim is.
    private mutating func aliasIsLeftOut(_ number: Int, _ item: ItemClaim, _ now: Duration) {
        let jitter = random.fraction()
        if let end = hosts.change(item.role, { $0.leftOut(now, jitter: jitter) }) ?? nil { leftovers.add(end) }
        refuse(number, records.leftOut)
    }

    mutating func aliasProofReceived(
        _ number: Int, _ name: DomainName, _ version: Int, _ reply: ZoneReply, _ now: Duration
    ) {
        items[number]?.answered()
        // It may have got another name meanwhile.
        guard let item = items[number], item.names.instance == name else { return }
        switch reply {
        case .outcome(.notAsRequired):
            lease.doubt()
            // Once it may have been taken back meanwhile.
            if items[number]?.wasLeftOut() == true {
                aliasIsLeftOut(number, item, now)
            } else {
                _ = hosts.change(item.role) { $0.lost() }
            }
        case .outcome(.unheard): break
        case .outcome(.serverFailed):
            items[number]?.retryLater(now, jitter: random.fraction())
            report(number, .waiting(records.serverFailure))
        // A server that refuses conditions says nothing of what it has.
        default: established([number: version])
        }
    }

    /// An alias is another host's name: it gets another one, and what is on it must not be found there.
    mutating func aliasWasTaken(_ role: HostRole, _ now: Duration) {
        for (number, item) in items where item.isWanted && item.role == role {
            if item.isAlias {
                _ = collided(number, now)
            } else if item.isPersistent {
                report(number, .refused(hostIsTaken(item)))
            } else {
                end(number, .conflicted(hostIsTaken(item)))
            }
        }
    }

    private func hostIsTaken(_ item: ItemClaim) -> DiscoveryError {
        DiscoveryError(.nameTaken, "the name \(item.service?.host?.name.text ?? "") of its host is taken")
    }

    /// Removes what the server has of services on an alias that is another host's; they wait until it is there again.
    mutating func leaveTakenAliases(_ now: Duration) {
        for (number, item) in items
        where item.isWanted && !item.isAlias && item.mayExist && item.isReady(now) && hosts[item.role]?.isTaken == true
        {
            names.release(item.names, of: number)
            items[number]?.lostName()
            remove(leftover: item.names)
            report(number, .refused(hostIsTaken(item)))
        }
    }
}
