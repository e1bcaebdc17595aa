package import DNSMessage
package import DNSSD
package import Discovery

/// The questions and records of one link, over IPv4 and IPv6 together: takes received packets, returns packets to send.
///
/// A value, like the cache and the schedule that it combines: receives events with their times.
package struct LinkQuerier: Sendable {
    package private(set) var cache: RecordCache
    private var schedule: QuestionSchedule
    private var oneShots: OneShotQuestions
    /// Who answers which list.
    var lists: [RecordKey: ListAnswers] = [:]
    private var questions = HeardQuestions()
    /// What was answered only to the port that asks: multicast questions for it mean nothing.
    private var lone = Recent<RecordKey>()
    /// Which operations follow which names.
    package private(set) var followers = Followers()
    /// The operation that reads.
    private var reader: Followers.Reader?
    /// Whether records were left out and have not been asked for since.
    private var wasFull = false
    /// The most records of a packet of a host that is asked by itself: 9000 bytes hold no more (RFC 6762 §17).
    private static let mostOfHost = 512
    /// How often hosts are asked by themselves.
    var hostRate = TokenBucket(burst: 256, perSecond: 25)
    /// When everything was last asked for again because there was room.
    private var refilled: Duration?
    /// The shortest interval between two such restarts.
    private static let refillInterval = Duration.seconds(10)

    /// Creates a querier without questions.
    package init(
        cache: RecordCache, schedule: QuestionSchedule = QuestionSchedule(),
        oneShots: OneShotQuestions = OneShotQuestions()
    ) {
        (self.cache, self.schedule, self.oneShots) = (cache, schedule, oneShots)
    }

    // MARK: Reading

    /// Lets an operation read and ask; with a family, it sees what was heard over that one alone.
    package mutating func read<Result>(
        as reader: Followers.Reader, over family: IPAddress.Family?, _ body: (inout Self) -> Result
    ) -> Result {
        (self.reader, cache.view) = (reader, family)
        defer { (self.reader, cache.view) = (nil, nil) }
        return body(&self)
    }

    /// Has the reader told of changes that concern a name: a list, a type or a host.
    package mutating func follow(_ name: DomainName) { if let reader { followers.add(reader, to: name) } }

    /// Ends one `follow`.
    package mutating func unfollow(_ name: DomainName) { if let reader { followers.remove(reader, from: name) } }

    // MARK: Asking

    /// Adds a user that wants the records of a key kept up to date.
    /// - Parameter source: who said that there are such records; nil for whoever waits for a name.
    package mutating func ask(
        _ key: RecordKey, _ kind: QuestionSchedule.Kind, from source: PacketSource? = nil, at now: Duration
    ) {
        let first = schedule.ask(key, kind, from: source, at: now)
        // The answer may have come over the other family, to whoever asked before.
        if first == nil, cache.view != nil, key.type.isShared || !cache.isAnswered(key) {
            schedule.restart(key, at: now)
        }
        if kind == .shared, let first {
            lists[key] = Self.answers(to: key, from: first)
            oneShots.ask(key, .list, at: first)
        }
        // A lookup by name cannot wait: the next question of an existing follower may be an hour away.
        if kind == .unique(after: .zero), !cache.isAnsweredEverywhere(key) { schedule.hasten(key, at: now) }
    }

    /// Also asks a one-shot question for a key, unless an answer arrives in a moment. For a caller that waits, besides
    /// `ask`.
    package mutating func askOnce(_ key: RecordKey, at now: Duration) {
        if Self.isMissing(key, cache) { oneShots.ask(key, at: now) }
    }

    /// The last question brought more: asks once more, a second after it.
    package mutating func askSoon(_ key: RecordKey, at now: Duration) { schedule.askSoon(key, at: now) }

    /// Ends one `ask`.
    package mutating func stop(_ key: RecordKey) {
        schedule.stop(key)
        if !schedule.follows(key), lists.removeValue(forKey: key) != nil { oneShots.drop(list: key) }
    }

    /// How many questions are asked again and again.
    package var questionCount: Int { schedule.count }

    /// Returns how often a question was asked, by us or by another host in our place.
    package func timesAsked(_ key: RecordKey) -> Int { schedule.timesAsked(key) }

    /// Returns whether another host listed an answer that is still unknown here, and the question has not been asked
    /// since, or so soon that the answer may have been kept back.
    package func isBehind(_ key: RecordKey) -> Bool { schedule.isBehind(key) { cache.has($0, $1) } }

    /// Whether packets are waiting to be sent, as with many known answers.
    package var isSending: Bool { schedule.isSending }

    // MARK: Events

    /// Sets the families over which the link is used.
    /// - Parameter apart: whether someone asks over one of them alone, who sees nothing of what the other brings. An answer counts as known
    ///   then if both brought it.
    package mutating func uses(_ families: [IPAddress.Family], apart: Bool = false) {
        questions.families = Set(families)
        cache.needed = apart && families.count > 1 ? families : []
    }

    /// Sets until when first questions of lists wait (`Unrest`).
    package mutating func waits(until end: Duration) { schedule.waitsUntil = end }

    /// The most questions of one packet that are processed; a host does not need thousands of answers at once.
    private static let questionsHeard = 64

    /// Processes a message.
    /// - Parameters:
    ///   - message: the message.
    ///   - isOwn: whether this machine sent it.
    ///   - wentToAll: whether its frame went to all hosts of the link.
    ///   - family: the family over which it came.
    ///   - sender: its source over IPv4.
    ///   - size: its size in bytes.
    ///   - now: the time.
    package mutating func received(
        _ message: Message, isOwn: Bool, wentToAll: Bool = true, over family: IPAddress.Family = .ipv4,
        from source: PacketSource = .asked, sender: IPv4Address? = nil, size: Int = 0, at now: Duration
    ) -> [RecordCache.Change] {
        // RFC 6762 §18.3 and §18.11: ignores errors and all but queries and responses.
        guard message.opcode == 0, message.responseCode == 0 else { return [] }
        guard message.flags.contains(.response) else {
            // A probe asks for other reasons, and the known answers of a truncated question are incomplete.
            guard message.authorities.isEmpty else {
                cache.heardProbe(for: message.authorities.prefix(Self.questionsHeard), at: now)
                return []
            }
            // Questions of this machine do not count either: they may be our own. Nor do those in a frame to this machine alone, which no
            // one who could answer has heard; some access points send all so, and what those say is still of use.
            let mayCount = !message.flags.contains(.truncated) && !isOwn && wentToAll
            if message.questions.isEmpty {
                schedule.heardMore(message.answers, at: now) { [cache] in cache.isFresh($0, $1, at: now) }
            }
            let listed = lists.isEmpty ? [] : Set(message.answers.lazy.map { RecordKey($0.name, $0.type) })
            for question in Set(message.questions.prefix(Self.questionsHeard))
            where !question.wantsUnicastResponse && question.recordClass == .internet {
                let key = RecordKey(question.name, question.type)
                // From a port of its own it has an id.
                if message.id == 0, wentToAll {
                    lists[key]?.wasAsked(over: family, isKnowing: listed.contains(key), at: now)
                }
                let concerns = schedule.follows(key) || cache.store.count(of: key) > 0
                let counts = mayCount && concerns && questions.isHeardByAll(question, over: family, at: now)
                schedule.heard(
                    question, knownAnswers: message.answers, counts: counts, at: now,
                    knows: { [cache] in cache.isFresh($0, $1, at: now) })
                guard counts, !isLone(key) else { continue }
                // Others may have asked what no one could read: nothing ends before this host has asked, too.
                for key in cache.heard(question, knownAnswers: message.answers, at: now) where schedule.follows(key) {
                    schedule.restart(key, at: now)
                }
            }
            return []
        }
        var records = message.answers + message.additionals
        if !records.allSatisfy({ Self.isOfUse($0.type) }) { records.removeAll { !Self.isOfUse($0.type) } }
        schedule.answered(by: records, at: now)
        noteAnswers(message.answers, by: isOwn ? nil : source, isOwn ? nil : sender, size: size, at: now)
        let changes = cache.receive(records, isOwn: isOwn, over: family, from: source, at: now) { schedule.follows($0) }
        if !changes.isEmpty { schedule.heardNews(at: now) }
        // Of what this machine withdraws there is no doubt.
        if !isOwn { confirm(records, at: now) }
        if cache.isFull { wasFull = true }
        return changes
    }

    /// A goodbye of the PTR record alone: Apple's and ESP-IDF's responders withdraw a service so, and avahi-daemon's ends
    /// so soon after its link came up. Asks whether the service is still there, and its host.
    private mutating func confirm(_ records: [ResourceRecord], at now: Duration) {
        for record in records where record.ttl == 0 && schedule.follows(RecordKey(record.name, .ptr)) {
            guard case .ptr(let name) = record.data, cache.isAnswered(RecordKey(name, .srv)) else { continue }
            for host in hosts(of: name) {
                for key in Self.addresses(of: host) { oneShots.ask(key, .confirmation, at: now) }
            }
            oneShots.ask(RecordKey(name, .srv), .confirmation, at: now)
        }
    }

    /// Whether a host answers for itself and not for its service: both were asked for after a goodbye of the service's PTR record, and
    /// the service was not heard since. A responder that ends or restarts answers for neither.
    package func isSilent(_ service: DomainName, at now: Duration) -> Bool {
        let key = RecordKey(service, .srv)
        return oneShots.isUnanswered(key)
            && !cache.records(key).contains { !$0.life.isEnding && now - $0.life.received < RecordCache.ending }
            && hosts(of: service).contains { Self.addresses(of: $0).contains(where: oneShots.isAnswered) }
    }

    private func hosts(of service: DomainName) -> [DomainName] {
        cache.records(RecordKey(service, .srv)).compactMap {
            if case .srv(_, _, _, let host) = $0.data { host } else { nil }
        }
    }

    private static func addresses(of host: DomainName) -> [RecordKey] { [RecordKey(host, .a), RecordKey(host, .aaaa)] }

    /// Returns whether services, their hosts and aliases use this type; others are not kept.
    private static func isOfUse(_ type: RecordType) -> Bool {
        switch type {
        case .a, .aaaa, .cname, .ptr, .srv, .txt, .nsec: true
        default: false
        }
    }

    /// The link has become usable: asks everything from the beginning.
    package mutating func restart(at now: Duration) {
        schedule.restartAll(at: now)
        // Who has answered so far may have been others.
        for key in Array(lists.keys) { lists[key]?.isInDoubt() }
    }

    /// The machine slept, or the link was away: asks for known records before relying on them.
    package mutating func awoke(at now: Duration) {
        cache.reconfirmAll(at: now)
        restart(at: now)
    }

    /// A service could not be reached: asks for its watched records and its hosts', several times because a packet may
    /// be lost, and forgets them without an answer (RFC 6762 §10.4).
    package mutating func reconfirm(_ service: DomainName, at now: Duration) {
        let keys =
            [RecordKey(service, .srv), RecordKey(service, .txt)] + hosts(of: service).flatMap(Self.addresses)
        for key in keys where schedule.follows(key) && cache.isAnswered(key) {
            cache.reconfirm(key, at: now)
            schedule.restart(key, at: now)
        }
    }

    /// Time has passed: returns what expired, and schedules questions for what must be asked again.
    package mutating func advance(to now: Duration) -> [RecordCache.Change] {
        guard let deadline = cache.deadline, deadline <= now else { return [] }
        let (changes, refreshes) = cache.advance(to: now) { schedule.follows($0) }
        refill(at: now)
        for key in refreshes {
            schedule.refresh(key, at: now)
            if isLone(key) { oneShots.ask(key, .confirmation, at: now) }
        }
        // A shared question keeps its schedule: one host's departure is no reason to ask all.
        for case .removed(let key, _) in changes where !key.type.isShared && !cache.isAnswered(key) {
            schedule.restart(key, at: now)
        }
        return changes
    }

    /// When there is room again, asks everything, so that omitted records return.
    private mutating func refill(at now: Duration) {
        guard wasFull, !cache.isFull, refilled.map({ now - $0 >= Self.refillInterval }) ?? true else { return }
        (wasFull, refilled) = (false, now)
        schedule.restartAll(at: now)
    }

    /// Keeps no more bytes of records from now on.
    mutating func keep(atMost bytes: Int, at now: Duration) -> [RecordCache.Change] {
        let changes = cache.keep(atMost: bytes, at: now)
        if cache.isFull { wasFull = true }
        return changes
    }

    /// Sets this machine's address blocks on the link: hosts in them take precedence.
    package mutating func neighbours(_ blocks: [CIDR]) { cache.neighbours = blocks }

    /// The packets to send now.
    package mutating func packets(at now: Duration) -> [[UInt8]] {
        guard let deadline = schedule.deadline(at: now), deadline <= now else { return [] }
        return schedule.packets(at: now) { [cache] in Self.knowledge($0, cache, at: now) }
    }

    /// Returns the one-shot questions to send now, from a port that receives their answers.
    package mutating func oneShotPackets(at now: Duration) -> [[UInt8]] {
        guard let deadline = oneShots.deadline, deadline <= now else { return [] }
        let packets = oneShots.packets(
            at: now,
            question: { key, purpose in
                switch purpose {
                case .missing: schedule.follows(key) && Self.isMissing(key, cache) ? key : nil
                case .confirmation: key
                case .list: schedule.follows(key) ? Self.listQuestion(key, lists[key], cache) : nil
                }
            }, mayLeave: { schedule.takePlace(at: now) })
        for key in Array(lists.keys) {
            askedOnce(forList: key, oneShots.asked(forList: key), waits: oneShots.waits(forList: key), at: now)
        }
        return packets
    }

    /// Whether one-shot questions are open.
    package var awaitsOneShots: Bool { oneShots.isOpen }

    /// Processes a message to the port of one-shot questions, from port 5353 of a host on this link.
    /// - Parameters:
    ///   - isFromHere: whether its source is an address of this machine, which others can forge over IPv6.
    ///   - isOwn: whether this machine certainly sent it.
    ///   - sender: its source over IPv4.
    ///   - size: the message's, in bytes.
    package mutating func receivedOneShot(
        _ message: Message, isFromHere: Bool = false, isOwn: Bool, over family: IPAddress.Family? = nil,
        from source: PacketSource = .asked, sender: IPv4Address? = nil, size: Int = 0, at now: Duration
    ) -> [RecordCache.Change] {
        var records = oneShots.received(message, at: now)
        if let asked = oneShots.question(answeredBy: message, at: now), !records.isEmpty {
            let (source, delay) = (isFromHere ? nil : source, now - asked.time)
            if asked.key != asked.wanted {
                namesTypes(records, for: asked.wanted, by: source, sender, asked.way, size: size, after: delay, at: now)
                return []
            }
            lists[asked.key]?.answered(
                by: source, asked.way, isWhole: size <= ListAnswers.whole,
                naming: family == .ipv6 ? records.targets(of: asked.key).first { _ in true } : nil, after: delay,
                at: now)
            answeredPort(for: asked.key, by: source, sender, asked.way)
            // What it says is heard through the group, too, which shows whose it is; or over IPv4.
            if isFromHere, !isOwn { return [] }
        }
        if records.isEmpty {
            records = oneShots.receivedWithoutQuestion(message, at: now)
            for record in records { followLone(record, at: now) }
        }
        return cache.receive(
            records.filter { Self.isOfUse($0.type) }, isOwn: isOwn, isOneShot: true, over: family, at: now
        ) { schedule.follows($0) }
    }

    /// Processes a message from port 5353 of a host to the socket that asks it.
    package mutating func receivedFromHost(
        _ message: Message, _ host: IPv4Address, at now: Duration
    ) -> [RecordCache.Change] {
        guard message.flags.contains(.response), message.opcode == 0, message.responseCode == 0 else { return [] }
        var believed: [ResourceRecord] = []
        for key in Array(lists.keys) where lists[key]?.hosts.awaits(host) ?? false {
            let records = OneShotQuestions.records(about: key, in: message, atMost: Self.mostOfHost)
            guard records.contains(where: { $0.name == key.name && $0.type == key.type }) else { continue }
            believed += records
            lists[key]?.hosts.answered(Set(records.targets(of: key)), from: host, at: now)
            lists[key]?.hostAnswered(host, at: now)
        }
        return cache.receive(
            believed.filter { Self.isOfUse($0.type) }, isOneShot: true, over: .ipv4, at: now
        ) { schedule.follows($0) }
    }

    /// A responder that answers the asker alone is asked so for all that follows.
    private mutating func followLone(_ record: ResourceRecord, at now: Duration) {
        lone.note(RecordKey(record.name, record.type), at: now)
        let next: [RecordKey] =
            switch record.data {
            case .ptr(let name): [RecordKey(name, .srv), RecordKey(name, .txt)]
            case .srv(_, _, _, let host): [RecordKey(host, .a), RecordKey(host, .aaaa)]
            default: []
            }
        for key in next { oneShots.ask(key, at: now) }
    }

    private func isLone(_ key: RecordKey) -> Bool { lone.contains(key, since: .zero) }

    private static func isMissing(_ key: RecordKey, _ cache: RecordCache) -> Bool {
        !cache.isAnsweredEverywhere(key) && !cache.isDenied(key)
    }

    /// When there is work again; nil for never.
    package func deadline(at now: Duration) -> Duration? {
        [cache.deadline, schedule.deadline(at: now), oneShots.deadline, hostDeadline].compactMap(\.self).min()
    }

    private static func knowledge(
        _ key: RecordKey, _ cache: RecordCache, at now: Duration
    ) -> QuestionSchedule.Knowledge {
        let need: QuestionSchedule.Need =
            if cache.isAnsweredEverywhere(key) {
                .answered
            } else if cache.isDenied(key) {
                .none
            } else if cache.isAnswered(key) {
                // Over one family.
                .little
            } else if let other = key.otherAddresses, cache.isAnswered(other) {
                .little
            } else {
                .full
            }
        return QuestionSchedule.Knowledge(need: need) { cache.knownAnswers(key, at: now, to: $0) }
    }
}

extension RecordKey {
    /// Most hosts send both families' addresses together; many have one family and do not deny the other.
    fileprivate var otherAddresses: RecordKey? {
        switch type {
        case .a: RecordKey(name, .aaaa)
        case .aaaa: RecordKey(name, .a)
        default: nil
        }
    }
}
