import DNSMessage
import DNSSD

// What this machine says.
extension LinkResponder {
    private mutating func append(_ packets: [[UInt8]], over family: IPAddress.Family) {
        guard !packets.isEmpty, families.contains(family) else { return }
        paced[family, default: PacedPackets()].append(packets)
    }

    mutating func sendGoodbyes() {
        guard !farewells.isEmpty else { return }
        var last: (records: [ResourceRecord], packets: [[UInt8]]) = ([], [])
        for (family, records) in farewells {
            // Most is said over both families, in the same bytes.
            if records != last.records { last = (records, ResponsePackets.make(records, limit: limit)) }
            append(last.packets, over: family)
        }
        farewells = [:]
    }

    mutating func probe(at now: Duration) {
        if canTell { tellReady(at: now) }
        guard let due = probing.deadline, due <= now else { return }
        let turn = probing.take(at: now)
        for id in turn.probed {
            untell(id)
            claims[id]?.stage = .probing
            announcing.leave(id)
        }
        sendProbes(turn.probed.compactMap { claims[$0]?.claim })
        probing.wait(families.compactMap { paced[$0]?.lag }.max() ?? .zero, at: now)
        for id in turn.won {
            claims[id]?.stage = .ready
            ready.insert(id)
        }
        if !turn.won.isEmpty { tellReady(at: now) }
    }

    private mutating func sendProbes(_ claims: [Claim]) {
        guard !claims.isEmpty else { return }
        var last: (count: Int, packets: [[UInt8]]) = (0, [])
        for family in families {
            let asked = claims.filter { $0.families.contains(family) }
            if asked.count != claims.count || last.count != claims.count {
                let proposed = asked.map { (name: $0.name, records: $0.records(host: hostName).unique) }
                last = (asked.count, ProbePackets.make(proposed, wantsUnicast: hearsUnicast, limit: limit))
            }
            append(last.packets, over: family)
        }
    }

    /// Something is to be told that waits for nothing.
    var canTell: Bool { ready.contains { isFollowing(claims[$0]?.claim.after) } }

    /// Tells of all claims that wait for nothing any more.
    private mutating func tellReady(at now: Duration) {
        let host = hostName
        var told: [ClaimID] = []
        var again = true
        while again {
            again = false
            for id in ready {
                guard let held = claims[id], case .ready = held.stage else {
                    ready.remove(id)
                    continue
                }
                guard isFollowing(held.claim.after) else { continue }
                ready.remove(id)
                let places = owned.add(held.claim.records(host: host), over: held.claim.families)
                claims[id]?.stage = .told(places, over: held.claim.families, host: host)
                told.append(id)
                again = again || id == .host || held.claim.after == nil
                // All links decide together on the first name: each time counts.
                if !held.isReported || id == .firstName { facts.append(.established(id)) }
                claims[id]?.isReported = true
            }
        }
        announcing.established(told.sorted(), at: now)
        if told.contains(.host) { pointToHost(at: now) }
    }

    /// Has services that are told point to the host: it may have another name than before.
    mutating func pointToHost(at now: Duration) {
        let host = hostName
        for (id, held) in claims {
            if case .told(_, _, let before) = held.stage, held.claim.after == .host, before != host {
                retell(id, at: now)
            }
        }
    }

    private func isFollowing(_ id: ClaimID?) -> Bool {
        guard let id else { return true }
        guard let held = claims[id] else { return false }
        if case .told = held.stage { return true }
        // A host whose name is doubted was there before.
        return held.isReported
    }

    mutating func announce(at now: Duration) {
        guard let due = announcing.deadline, due <= now else { return }
        let places = announcing.take(at: now).flatMap { id -> [Int] in
            if case .told(let places, _, _)? = claims[id]?.stage { places } else { [] }
        }
        let all = places.filter { owned[$0]?.kind == .announced }.uniqued()
        var last: (places: [Int], packets: [[UInt8]]) = ([], [])
        for family in families {
            let due = all.filter { place in
                guard let entry = owned[place], entry.isSaid(over: family) else { return false }
                return entry.said(over: family).map { now - $0 >= .seconds(1) } ?? true
            }
            if due != last.places {
                last = (due, ResponsePackets.make(due.compactMap { owned[$0]?.record }, limit: limit))
            }
            multicast(last.packets, due, over: family, at: now)
        }
    }

    private mutating func multicast(
        _ packets: [[UInt8]], _ places: [Int], over family: IPAddress.Family, at now: Duration
    ) {
        append(packets, over: family)
        for place in places { owned.said(place, over: family, at: now) }
        answering[family]?.settle(places, areGone: false)
    }

    mutating func answer(over family: IPAddress.Family, at now: Duration) {
        guard let due = answering[family]?.deadline, due <= now else { return }
        for reply in answering[family]?.takeReplies(at: now) ?? [] { send(reply, over: family, at: now) }
        let places = (answering[family]?.take(owned, at: now) ?? []).filter { owned[$0] != nil }
        var known = Set(places)
        var all = places
        let answers = places.compactMap { place -> ResponsePackets.Answer? in
            guard let record = owned[place]?.record else { return nil }
            // What was said a moment ago is known.
            let additions = owned.additions(to: [place], over: family).filter { addition in
                let said = owned[addition]?.said(over: family)
                return (said.map { now - $0 >= .seconds(1) } ?? true) && known.insert(addition).inserted
            }
            all += additions
            return (record, additions.compactMap { owned[$0]?.record })
        }
        multicast(ResponsePackets.make(answers, limit: limit), all, over: family, at: now)
    }

    private mutating func send(_ reply: Answering.Reply, over family: IPAddress.Family, at now: Duration) {
        let places = reply.places.filter { owned[$0] != nil }
        guard !places.isEmpty else { return }
        let additions = owned.additions(to: places, over: family)
        let made = ResponsePackets.reply(
            places.compactMap { owned[$0]?.record }, additions.compactMap { owned[$0]?.record },
            toResolver: reply.question, limit: limit)
        guard budget.take(made.packet.count, for: reply.to.source, at: now) else {
            // The group's rate is limited anyway: a name is defended.
            if reply.question == nil { answering[family]?.overflowed(places, owned, at: now) }
            return
        }
        if made.count > 0 || reply.question != nil {
            direct.append(
                Outgoing(
                    bytes: made.packet, family: family,
                    host: Outgoing.Host(address: reply.to.source, port: reply.to.port)))
        }
        if reply.question == nil, made.count < places.count {
            answering[family]?.overflowed(places.dropFirst(made.count), owned, at: now)
        }
    }
}
