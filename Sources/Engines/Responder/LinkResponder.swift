import DNSMessage
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
        /// The host whose service it is has the name, or asks for it: the claim is given up, and nothing said.
        case gaveWay(ClaimID)
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

    enum Stage {
        case probing
        /// Probing is over, but not that of the claim on which it depends.
        case ready
        /// Its records are in `owned`, at these places and over these families, with this machine's name as it was then.
        case told([Int], over: Set<IPAddress.Family>, host: DomainName?)
    }

    struct Held {
        var claim: Claim
        var stage: Stage
        /// The program has been told that it is established.
        var isReported = false
    }

    var claims: [ClaimID: Held] = [:]
    var names: [DomainName: [ClaimID]] = [:]
    /// The lists in which claims are that may give way, and how many.
    private(set) var lists: [DomainName: Int] = [:]
    package internal(set) var owned = OwnedRecords()
    var probing: Probing
    var announcing = Announcing()
    var answering: [IPAddress.Family: Answering]
    var paced: [IPAddress.Family: PacedPackets] = [:]
    var direct: [Outgoing] = []
    var budget = ReplyBudget()
    var facts: [Fact] = []
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

    /// Whether a name is neither established nor lost yet.
    package var isProbing: Bool { canTell || probing.deadline != nil }

    /// Whether a fact is true still: since then the claim may have got another name, because of what another link brought.
    package func isStill(_ fact: Fact) -> Bool {
        switch fact {
        case .lost(let id), .gaveWay(let id): claims[id] == nil
        case .established(let id): if case .told? = claims[id]?.stage { true } else { false }
        }
    }

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

    /// Announces all established names anew: some of it was not heard.
    package mutating func announceAgain(at now: Duration) {
        let told = claims.filter { if case .told = $0.value.stage { true } else { false } }
        announcing.established(told.keys.sorted(), at: now)
    }

    /// Claims a name, or has a claim say something else of the same name. It is lost where another claim of this process says otherwise of it.
    /// - Parameter isProven: this machine had the name a moment ago: it is not probed for.
    package mutating func claim(_ id: ClaimID, _ claim: Claim, isProven: Bool = false, at now: Duration) {
        if let held = claims[id] {
            if held.claim == claim { return }
            if held.claim.name == claim.name, isFree(claim, for: id) { return change(id, claim, at: now) }
            withdraw(id, at: now)
        }
        // It may be the former name again.
        if id == .host { sayLater() }
        guard isFree(claim, for: id) else {
            facts.append(.lost(id))
            return
        }
        claims[id] = Held(claim: claim, stage: isProven ? .ready : .probing)
        list(claim, 1)
        names[claim.name, default: []].append(id)
        if isProven { ready.insert(id) } else { probing.begin(id, .wanted, at: now) }
    }

    /// Whether nobody else in this process claims the name, or somebody who says the same of it.
    private func isFree(_ claim: Claim, for id: ClaimID) -> Bool {
        (names[claim.name] ?? []).allSatisfy { $0 == id || claims[$0]?.claim.agrees(with: claim) == true }
    }

    private mutating func list(_ claim: Claim, _ change: Int) {
        guard claim.original != nil, case .service(_, _, _, let type, let subtypes) = claim.content else { return }
        for name in [type] + subtypes {
            let count = lists[name, default: 0] + change
            lists[name] = count > 0 ? count : nil
        }
    }

    private mutating func change(_ id: ClaimID, _ claim: Claim, at now: Duration) {
        if let before = claims[id]?.claim { list(before, -1) }
        list(claim, 1)
        claims[id]?.claim = claim
        guard case .told? = claims[id]?.stage else { return }
        retell(id, at: now)
    }

    /// Replaces what an established claim says (RFC 6762 §8.4): goodbyes for shared records that are gone, and for unique ones that no flush bit
    /// takes away.
    mutating func retell(_ id: ClaimID, at now: Duration) {
        guard let held = claims[id], case .told(let before, let formerly, _) = held.stage else { return }
        let (host, families) = (hostName, held.claim.families)
        let places = owned.add(held.claim.records(host: host), over: families)
        claims[id]?.stage = .told(places, over: families, host: host)
        let gone = owned.remove(before, over: formerly)
        let kept = Set(places.compactMap { owned[$0].map { RecordKey($0.record.name, $0.record.type) } })
        forget(gone)
        goodbye(
            gone.filter { _, entry, family in
                let key = RecordKey(entry.record.name, entry.record.type)
                return !entry.isUnique || !families.contains(family) || !kept.contains(key)
            })
        announcing.changed(id, at: now)
    }

    /// Gives up a claim.
    /// - Parameter isSaid: says so (RFC 6762 §10.1).
    package mutating func withdraw(_ id: ClaimID, isSaid: Bool = true, at now: Duration) {
        guard let held = claims[id] else { return }
        if id == .host { sayLater() }
        if case .told = held.stage {
            let gone = untell(id)
            if isSaid { goodbye(gone) }
        } else if isSaid, held.isReported {
            // It was told before it came to be probed for anew.
            let places = owned.add(held.claim.records(host: hostName), over: held.claim.families)
            goodbye(owned.remove(places, over: held.claim.families))
        }
        list(held.claim, -1)
        claims[id] = nil
        ready.remove(id)
        names[held.claim.name]?.removeAll { $0 == id }
        if names[held.claim.name]?.isEmpty == true { names[held.claim.name] = nil }
        probing.leave(id)
        announcing.leave(id)
    }

    /// Has this machine its first name, which is established here beside the one that it has. Services point to it before the other one
    /// ends: some believe a goodbye at once.
    package mutating func takeFirstName(at now: Duration) {
        guard let first = claims[.firstName] else { return }
        let others = farewells
        farewells = [:]
        withdraw(.host, at: now)
        (later, farewells) = ((farewells, now + Self.pause), others)
        claims[.firstName] = nil
        claims[.host] = first
        names[first.claim.name] = names[first.claim.name]?.map { $0 == .firstName ? .host : $0 }
        announcing.leave(.firstName)
        probing.leave(.firstName)
        switch first.stage {
        case .told(let places, let families, _):
            claims[.host]?.stage = .told(places, over: families, host: first.claim.name)
            announcing.established([.host], at: now)
        case .ready, .probing:
            ready.remove(.firstName)
            probing.begin(.host, .wanted, at: now)
        }
        pointToHost(at: now)
    }

    /// Takes a claim's records away from those that are told.
    @discardableResult
    mutating func untell(_ id: ClaimID) -> [OwnedRecords.Gone] {
        guard case .told(let places, let families, _)? = claims[id]?.stage else { return [] }
        let gone = owned.remove(places, over: families)
        forget(gone)
        return gone
    }

    /// Over families that are not used now, too: their places would be other records' when they come back.
    private mutating func forget(_ gone: [OwnedRecords.Gone]) {
        for family in IPAddress.Family.allCases {
            answering[family]?.settle(gone.lazy.filter { $0.family == family }.map(\.place), areGone: true)
        }
    }

    /// None of what is still said over the other family: most caches have one record for both, and it would end.
    private mutating func goodbye(_ gone: [OwnedRecords.Gone]) {
        let ended = gone.filter { place, entry, _ in
            guard entry.kind == .announced else { return false }
            guard let left = owned[place], left.record == entry.record else { return true }
            return !families.contains { left.isSaid(over: $0) }
        }
        for family in families {
            let ends = ended.filter { $0.family == family }.map { _, entry, _ in
                var record = entry.record
                record.ttl = 0
                return record
            }
            farewells[family, default: []] += ends
        }
    }

    /// Claims that are probed for no more, or need not be, but are not told yet.
    var ready: Set<ClaimID> = []
    /// Goodbyes that are not in packets yet: those of many services go together.
    var farewells: [IPAddress.Family: [ResourceRecord]] = [:]

    /// Those of a host's former name, and when they are said: what points elsewhere now has been said twice by then.
    private var later: (records: [IPAddress.Family: [ResourceRecord]], due: Duration)?
    private static let pause = Duration.milliseconds(1500)

    private mutating func sayLater() {
        for (family, records) in later?.records ?? [:] { farewells[family, default: []] += records }
        later = nil
    }

    var hostName: DomainName? { claims[.host]?.claim.name }

    // MARK: Time

    /// Takes what became of claims since the last call.
    package mutating func takeFacts() -> [Fact] {
        defer { facts = [] }
        return facts
    }

    /// Whether what is to be said takes so long that answers wait: asked for again and again, they would fill the memory.
    private func isBehind(over family: IPAddress.Family) -> Bool {
        (paced[family]?.lag ?? .zero) > .milliseconds(500)
    }

    /// When `packets` is to be called; nil for never.
    package func deadline(at now: Duration) -> Duration? {
        if !direct.isEmpty || !farewells.isEmpty || !facts.isEmpty || canTell { return now }
        return
            ([probing.deadline, announcing.deadline, later?.due]
            + families.map { isBehind(over: $0) ? nil : answering[$0]?.deadline }
            + families.map { paced[$0]?.deadline(at: now) }).compactMap(\.self).min()
    }

    /// Takes the packets to send now.
    package mutating func packets(at now: Duration) -> [Outgoing] {
        if let later, later.due <= now { sayLater() }
        sendGoodbyes()
        probe(at: now)
        announce(at: now)
        for family in families where !isBehind(over: family) { answer(over: family, at: now) }
        defer { direct = [] }
        return direct
            + families.sorted { $0.rawValue < $1.rawValue }.flatMap { family in
                (paced[family]?.take(at: now) ?? []).map { Outgoing(bytes: $0, family: family, host: nil) }
            }
    }

    /// Whether all goodbyes are out.
    package var isSilent: Bool { farewells.isEmpty && paced.values.allSatisfy(\.isEmpty) }
}

extension ClaimID: Comparable {
    /// The host first, then in the order of publications.
    package static func < (one: ClaimID, other: ClaimID) -> Bool { one.order < other.order }

    private var order: (UInt64, Int) {
        switch self {
        case .host: (0, 0)
        case .firstName: (0, 1)
        case .other(let number): (number, 2)
        case .service(let number): (number, 3)
        }
    }
}
