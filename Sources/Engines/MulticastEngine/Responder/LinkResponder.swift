package import DNSMessage
package import DNSSD

/// What this machine says of itself on one link, over IPv4 and IPv6: takes claims, messages and the time, returns packets and what became of
/// the claims (RFC 6762 §§6 to 10). A value.
package struct LinkResponder: Sendable {
    /// What became of a claim.
    package enum Fact: Hashable, Sendable {
        /// It was probed for, nobody else has it, and it is announced.
        case established(ClaimID)
        /// Another host has the name: the claim is given up.
        case lost(ClaimID)
    }

    /// A packet to send.
    package struct Outgoing: Hashable, Sendable {
        package let bytes: [UInt8]
        package let family: IPAddress.Family
        /// The one host to which it goes, with its port; nil for the group.
        package let host: Host?

        package struct Host: Hashable, Sendable {
            package let address: IPAddress
            package let port: UInt16
        }
    }

    private enum Stage {
        case probing
        /// Probing is over, but not that of the claim on which it depends.
        case ready
        /// Its records are in `owned`, at these places, with this machine's name as it was then.
        case told([Int], host: DomainName?)
    }

    private struct Held {
        var claim: Claim
        var stage: Stage
        /// The program has been told that it is established.
        var isReported = false
    }

    private var claims: [ClaimID: Held] = [:]
    private var names: [DomainName: [ClaimID]] = [:]
    package private(set) var owned = OwnedRecords()
    private var probing: Probing
    private var announcing = Announcing()
    private var answering: [IPAddress.Family: Answering]
    private var paced: [IPAddress.Family: PacedPackets] = [:]
    private var direct: [Outgoing] = []
    private var budget = ReplyBudget()
    private var facts: [Fact] = []
    /// The families over which the link is used.
    package private(set) var families: Set<IPAddress.Family> = []
    /// The bytes of a packet that is not fragmented, without the headers of IPv6 and UDP.
    package var limit: Int
    /// Whether unicast packets to port 5353 reach this process.
    package var hearsUnicast: Bool
    /// This machine's addresses on all its links, without scopes: such an address of the own name is no conflict (RFC 6762 §14).
    package var machine: Set<IPAddress> = []

    /// - Parameter mtu: of the link, in bytes.
    package init(
        mtu: Int, hearsUnicast: Bool = true,
        random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        limit = Self.limit(mtu)
        self.hearsUnicast = hearsUnicast
        probing = Probing(random: random)
        answering = Dictionary(
            uniqueKeysWithValues: IPAddress.Family.allCases.map { ($0, Answering($0, random: random)) })
    }

    /// A packet on a link of so many bytes, with the headers of IPv6 and UDP.
    package static func limit(_ mtu: Int) -> Int { min(max(mtu, 576), Message.maximumMulticastLength) - 48 }

    // MARK: Claims

    package var isEmpty: Bool { claims.isEmpty }

    /// Uses the link over these families. What is new there is announced.
    package mutating func use(_ families: Set<IPAddress.Family>, at now: Duration) {
        let isNew = !families.isSubset(of: self.families)
        self.families = families
        for family in IPAddress.Family.allCases where !families.contains(family) { paced[family] = nil }
        if isNew, !claims.isEmpty { restart(at: now) }
    }

    /// The link may be another one: every name is probed for anew (RFC 6762 §8).
    package mutating func restart(at now: Duration) {
        for (id, held) in claims {
            if case .told = held.stage { untell(id) }
            claims[id]?.stage = .probing
            announcing.leave(id)
            probing.begin(id, .wanted, at: now)
        }
    }

    /// Claims a name, or has a claim say something else of the same name.
    package mutating func claim(_ id: ClaimID, _ claim: Claim, at now: Duration) {
        if let held = claims[id] {
            if held.claim == claim { return }
            if held.claim.name == claim.name { return change(id, claim, at: now) }
            withdraw(id, at: now)
        }
        guard isFree(claim, for: id) else {
            facts.append(.lost(id))
            return
        }
        claims[id] = Held(claim: claim, stage: .probing)
        names[claim.name, default: []].append(id)
        probing.begin(id, .wanted, at: now)
    }

    /// Whether nobody in this process claims the name, or somebody with the same records.
    private func isFree(_ claim: Claim, for id: ClaimID) -> Bool {
        (names[claim.name] ?? []).allSatisfy { $0 == id || claims[$0]?.claim.content == claim.content }
    }

    private mutating func change(_ id: ClaimID, _ claim: Claim, at now: Duration) {
        claims[id]?.claim = claim
        guard case .told? = claims[id]?.stage else { return }
        retell(id, at: now)
    }

    /// Replaces what an established claim says (RFC 6762 §8.4): goodbyes for shared records that are gone, and for unique ones that no flush bit
    /// takes away.
    private mutating func retell(_ id: ClaimID, at now: Duration) {
        guard let held = claims[id], case .told(let before, _) = held.stage else { return }
        let host = hostName
        let places = owned.add(held.claim.records(host: host), over: held.claim.families)
        claims[id]?.stage = .told(places, host: host)
        let gone = owned.remove(before)
        let kept = Set(places.compactMap { owned[$0].map { RecordKey($0.record.name, $0.record.type) } })
        forget(gone)
        goodbye(
            gone.filter { !$0.entry.isUnique || !kept.contains(RecordKey($0.entry.record.name, $0.entry.record.type)) }
                .map(\.entry))
        announcing.changed(id, at: now)
    }

    /// Gives up a claim.
    /// - Parameter isSaid: says so (RFC 6762 §10.1).
    package mutating func withdraw(_ id: ClaimID, isSaid: Bool = true, at now: Duration) {
        guard let held = claims[id] else { return }
        if case .told = held.stage {
            let gone = untell(id)
            if isSaid { goodbye(gone) }
        }
        claims[id] = nil
        names[held.claim.name]?.removeAll { $0 == id }
        if names[held.claim.name]?.isEmpty == true { names[held.claim.name] = nil }
        probing.leave(id)
        announcing.leave(id)
    }

    /// Takes a claim's records away from those that are told.
    @discardableResult
    private mutating func untell(_ id: ClaimID) -> [OwnedRecords.Entry] {
        guard case .told(let places, _)? = claims[id]?.stage else { return [] }
        let gone = owned.remove(places)
        forget(gone)
        return gone.map(\.entry)
    }

    private mutating func forget(_ gone: [(place: Int, entry: OwnedRecords.Entry)]) {
        for family in families { answering[family]?.settle(gone.lazy.map(\.place), areGone: true) }
    }

    private mutating func goodbye(_ entries: [OwnedRecords.Entry]) {
        for family in families {
            let ends = entries.filter { $0.kind == .announced && $0.families.contains(family) }.map { entry in
                var record = entry.record
                record.ttl = 0
                return record
            }
            farewells[family, default: []] += ends
        }
    }

    /// Goodbyes that are not in packets yet: those of many services go together.
    private var farewells: [IPAddress.Family: [ResourceRecord]] = [:]

    private var hostName: DomainName? { claims[.host]?.claim.name }

    // MARK: Messages

    /// Takes a message of another program, of this machine or another.
    package mutating func heard(_ message: Message, _ arrival: MessageSource, at now: Duration) {
        guard families.contains(arrival.family) else { return }
        guard message.flags.contains(.response) else {
            if !message.authorities.isEmpty, !arrival.isOfResolver { heardProbe(message, arrival, at: now) }
            answering[arrival.family]?.asked(message, arrival, owned, at: now)
            return
        }
        // RFC 6762 §6, §11, §18.3, §18.11.
        guard !arrival.isOfResolver, arrival.isToGroup || arrival.isOnLink, message.opcode == 0,
            message.flags.rawValue & 0xF == 0
        else { return }
        var doubted: Set<ClaimID> = []
        for record in message.answers + message.authorities + message.additionals
        where record.recordClass == .internet {
            if arrival.isToGroup, let place = owned.place(of: record), let entry = owned[place] {
                answering[arrival.family]?.heard(place, ttl: record.ttl, entry, at: now)
            } else {
                for id in names[record.name] ?? [] where denies(record, id, arrival) { doubted.insert(id) }
            }
        }
        for id in doubted { conflicted(id, at: now) }
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

    /// This machine's programs, and its links, have one name and all its addresses (RFC 6762 §14).
    private func isOfThisMachine(_ record: ResourceRecord, _ id: ClaimID, _ arrival: MessageSource) -> Bool {
        guard id == .host else { return false }
        if arrival.isFromHere { return true }
        return IPAddress(record.data, scope: 0).map(machine.contains) ?? false
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
        for question in message.questions {
            guard let theirs = proposed[question.name] else { continue }
            for id in names[question.name] ?? [] {
                guard case .probing? = claims[id]?.stage, probing.isAsked(id), let claim = claims[id]?.claim else {
                    continue
                }
                if id == .host, theirs.allSatisfy({ isOfThisMachine($0, id, arrival) }) { continue }
                guard Tiebreak(ours: claim.records(host: hostName).unique, theirs: theirs) == .lost else { continue }
                probing.conflicted(at: now)
                probing.begin(id, .deferred, at: now)
            }
        }
    }

    // MARK: Time

    /// Takes what became of claims since the last call.
    package mutating func takeFacts() -> [Fact] {
        defer { facts = [] }
        return facts
    }

    /// When `packets` is to be called; nil for never.
    package func deadline(at now: Duration) -> Duration? {
        if !direct.isEmpty || !farewells.isEmpty || !facts.isEmpty { return now }
        return
            ([probing.deadline, announcing.deadline] + families.map { answering[$0]?.deadline }
            + families.map { paced[$0]?.deadline(at: now) }).compactMap(\.self).min()
    }

    /// Takes the packets to send now.
    package mutating func packets(at now: Duration) -> [Outgoing] {
        sendGoodbyes()
        probe(at: now)
        announce(at: now)
        for family in families { answer(over: family, at: now) }
        defer { direct = [] }
        return direct
            + families.sorted { $0.rawValue < $1.rawValue }.flatMap { family in
                (paced[family]?.take(at: now) ?? []).map { Outgoing(bytes: $0, family: family, host: nil) }
            }
    }

    /// Whether all goodbyes are out.
    package var isSilent: Bool { farewells.isEmpty && paced.values.allSatisfy(\.isEmpty) }

    private mutating func append(_ packets: [[UInt8]], over family: IPAddress.Family) {
        guard !packets.isEmpty, families.contains(family) else { return }
        paced[family, default: PacedPackets()].append(packets)
    }

    private mutating func sendGoodbyes() {
        guard !farewells.isEmpty else { return }
        for (family, records) in farewells {
            append(ResponsePackets.make(records.map { ($0, []) }, limit: limit), over: family)
        }
        farewells = [:]
    }

    private mutating func probe(at now: Duration) {
        guard let due = probing.deadline, due <= now else { return }
        let queues = families.map { paced[$0] ?? PacedPackets() }
        // Some fifteen names fit into a packet.
        let turn = probing.take(at: now) { count in queues.map { $0.lag(of: count / 15) }.max() ?? .zero }
        for id in turn.probed {
            untell(id)
            claims[id]?.stage = .probing
            announcing.leave(id)
        }
        for family in families {
            let asked = turn.probed.compactMap { claims[$0]?.claim }.filter { $0.families.contains(family) }
                .map { (name: $0.name, records: $0.records(host: hostName).unique) }
            append(ProbePackets.make(asked, wantsUnicast: hearsUnicast, limit: limit), over: family)
        }
        for id in turn.won { claims[id]?.stage = .ready }
        if !turn.won.isEmpty { tellReady(at: now) }
    }

    /// Tells of all claims that wait for nothing any more.
    private mutating func tellReady(at now: Duration) {
        let host = hostName
        var told: [ClaimID] = []
        var again = true
        while again {
            again = false
            for (id, held) in claims {
                guard case .ready = held.stage, isFollowing(held.claim.after) else { continue }
                let places = owned.add(held.claim.records(host: host), over: held.claim.families)
                claims[id]?.stage = .told(places, host: host)
                told.append(id)
                again = again || id == .host || held.claim.after == nil
                if !held.isReported { facts.append(.established(id)) }
                claims[id]?.isReported = true
            }
        }
        announcing.established(told.sorted(), at: now)
        guard told.contains(.host) else { return }
        // The host may have another name than the one to which they point.
        for (id, held) in claims {
            if case .told(_, let before) = held.stage, held.claim.after == .host, before != host { retell(id, at: now) }
        }
    }

    private func isFollowing(_ id: ClaimID?) -> Bool {
        guard let id, let held = claims[id] else { return true }
        if case .told = held.stage { return true }
        // A host whose name is doubted was there before.
        return held.isReported
    }

    private mutating func announce(at now: Duration) {
        guard let due = announcing.deadline, due <= now else { return }
        let places = announcing.take(at: now).flatMap { id -> [Int] in
            if case .told(let places, _)? = claims[id]?.stage { places } else { [] }
        }
        var once: Set<Int> = []
        let all = places.filter { owned[$0]?.kind == .announced && once.insert($0).inserted }
        for family in families {
            let due = all.filter { place in
                guard let entry = owned[place], entry.families.contains(family) else { return false }
                return entry.said(over: family).map { now - $0 >= .seconds(1) } ?? true
            }
            multicast(due.compactMap { place in owned[place].map { ($0.record, []) } }, due, over: family, at: now)
        }
    }

    private mutating func multicast(
        _ answers: [ResponsePackets.Answer], _ places: [Int], over family: IPAddress.Family, at now: Duration
    ) {
        guard !answers.isEmpty else { return }
        append(ResponsePackets.make(answers, limit: limit), over: family)
        for place in places { owned.said(place, over: family, at: now) }
        answering[family]?.settle(places, areGone: false)
    }

    private mutating func answer(over family: IPAddress.Family, at now: Duration) {
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
        multicast(answers, all, over: family, at: now)
    }

    private mutating func send(_ reply: Answering.Reply, over family: IPAddress.Family, at now: Duration) {
        let places = reply.places.filter { owned[$0] != nil }
        guard !places.isEmpty else { return }
        let additions = owned.additions(to: places, over: family)
        let made = ResponsePackets.reply(
            places.compactMap { owned[$0]?.record }, additions.compactMap { owned[$0]?.record },
            toResolver: reply.question, limit: limit)
        guard budget.take(made.packet.count, for: reply.to.source, at: now) else { return }
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

extension ClaimID: Comparable {
    /// The host first, then in the order of publications.
    package static func < (one: ClaimID, other: ClaimID) -> Bool { one.order < other.order }

    private var order: (UInt64, Int) {
        switch self {
        case .host: (0, 0)
        case .other(let number): (number, 1)
        case .service(let number): (number, 2)
        }
    }
}
