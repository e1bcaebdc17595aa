package import DNSMessage
import DNSSD

// What other programs say.
extension LinkResponder {
    /// Takes a message of another program, of this machine or another.
    package mutating func heard(_ message: Message, _ arrival: MessageSource, at now: Duration) {
        guard families.contains(arrival.family) else { return }
        guard message.flags.contains(.response) else {
            if !message.authorities.isEmpty, isOfLink(message, arrival) { heardProbe(message, arrival, at: now) }
            let hesitates = !lists.isEmpty && message.questions.contains { lists[$0.name] != nil }
            answering[arrival.family]?.asked(message, arrival, owned, hesitating: hesitates, at: now)
            return
        }
        guard isOfLink(message, arrival) else { return }
        defer { answering[arrival.family]?.look() }
        var doubted: Set<ClaimID> = []
        for var record in message.answers + message.authorities + message.additionals
        where record.recordClass == .internet {
            // RFC 2181 §8.
            if record.ttl > UInt32(Int32.max) { record.ttl = 0 }
            for id in names[record.name] ?? [] where record.ttl > 0 && claims[id]?.claim.givesWay(to: record) == true {
                giveWay(id, at: now)
            }
            if arrival.isToGroup, let place = owned.place(of: record), let entry = owned[place] {
                // What is withdrawn over one family ends in caches for both.
                let isSaid = entry.isSaid(over: arrival.family)
                for family in isSaid ? [arrival.family] : families.filter({ entry.isSaid(over: $0) }) {
                    answering[family]?.heard(
                        place, ttl: record.ttl, entry, byAll: isSaid && arrival.audience == .group, at: now)
                    if !isSaid { answering[family]?.look() }
                }
            } else {
                for id in names[record.name] ?? [] where denies(record, id, arrival) { doubted.insert(id) }
            }
        }
        for id in doubted where claims[id] != nil { conflicted(id, at: now) }
    }

    /// RFC 6762 §6, §11, §18.3, §18.11.
    private func isOfLink(_ message: Message, _ arrival: MessageSource) -> Bool {
        !arrival.isOfResolver && (arrival.isToGroup || arrival.isOnLink) && message.opcode == 0
            && message.flags.rawValue & 0xF == 0
    }

    /// Whether a record of somebody else says that a name is not ours: of one that is probed for, any that we do not propose (RFC 6762
    /// §8.1); of an established one, a unique record of a type that we have, with other data (§9).
    private func denies(_ record: ResourceRecord, _ id: ClaimID, _ arrival: MessageSource) -> Bool {
        guard record.ttl > 0, let held = claims[id], !isOfThisMachine(record, id, arrival) else { return false }
        let records = held.claim.records(host: hostName)
        guard !(records.unique + records.negative).contains(where: { $0.type == record.type && $0.data == record.data })
        else { return false }
        switch held.stage {
        case .probing: return probing.isAsked(id)
        case .ready: return true
        case .told: return record.type != .nsec && records.unique.contains { $0.type == record.type }
        }
    }

    /// This machine's programs, and its links, have its names and all its addresses (RFC 6762 §14). A program here that says its further name
    /// of another host is one that has it.
    private func isOfThisMachine(_ record: ResourceRecord, _ id: ClaimID, _ arrival: MessageSource) -> Bool {
        let address = IPAddress(record.data, scope: 0)
        switch claims[id]?.claim.host {
        case .machine where arrival.isFromHere: return true
        case .alias where arrival.isFromHere && address == nil: return true
        case .machine, .alias: return address.map(machine.contains) ?? false
        case .other, nil: return false
        }
    }

    /// Gives a name to whose it is. No goodbye: who has it now says its own records, and some are the same.
    private mutating func giveWay(_ id: ClaimID, at now: Duration) {
        withdraw(id, isSaid: false, at: now)
        facts.append(.gaveWay(id))
    }

    private mutating func conflicted(_ id: ClaimID, at now: Duration) {
        probing.conflicted(at: now)
        guard let held = claims[id] else { return }
        guard case .told = held.stage else {
            withdraw(id, isSaid: false, at: now)
            facts.append(.lost(id))
            return
        }
        // Until the first probe it is answered for: somebody who only says so does not silence the name.
        if !probing.members.contains(id) { probing.begin(id, .doubted, at: now) }
    }

    /// Another host probes for one of our names at the same time (RFC 6762 §8.2). Established names are defended by the answer.
    private mutating func heardProbe(_ message: Message, _ arrival: MessageSource, at now: Duration) {
        let proposed = Dictionary(grouping: message.authorities, by: \.name)
        var judged: Set<DomainName> = []
        for question in message.questions.prefix(Answering.mostQuestions)
        where judged.insert(question.name).inserted {
            guard let theirs = proposed[question.name] else { continue }
            for id in names[question.name] ?? [] {
                if let claim = claims[id]?.claim, theirs.contains(where: claim.givesWay) {
                    giveWay(id, at: now)
                    continue
                }
                guard case .probing? = claims[id]?.stage, probing.isAsked(id), let claim = claims[id]?.claim else {
                    continue
                }
                if theirs.allSatisfy({ isOfThisMachine($0, id, arrival) }) { continue }
                guard Tiebreak(ours: claim.records(host: hostName).unique, theirs: theirs) == .lost else { continue }
                // It is no conflict of those that slow down all attempts: whoever probes could have it so.
                probing.lostTiebreak(id, at: now)
            }
        }
    }
}
