package import DNSMessage
package import DNSSD
package import Discovery

/// What is asked and known on one link, over IPv4 and IPv6 together: packets that were heard go in, packets to send come out.
///
/// A value that is told an event and a time, as the cache and the schedule that it joins.
package struct LinkQuerier: Sendable {
    package private(set) var cache: RecordCache
    private var schedule: QuestionSchedule
    private var questions = HeardQuestions()
    /// Records were left out, and not asked for since.
    private var wasFull = false
    /// When everything was asked for again last because there was room again.
    private var refilled: Duration?
    /// How often, at most, that is done.
    private static let refillInterval = Duration.seconds(10)

    /// A link of which nothing is known.
    package init(cache: RecordCache, schedule: QuestionSchedule = QuestionSchedule()) {
        self.cache = cache
        self.schedule = schedule
    }

    // MARK: Asking

    /// Someone wants the records of a key, and wants them kept up to date.
    package mutating func ask(_ key: RecordKey, _ kind: QuestionSchedule.Kind, at now: Duration) {
        schedule.ask(key, kind, at: now)
        // Someone asks for it by name now: the next question may be an hour away for whoever followed it.
        if kind == .unique(after: .zero), !cache.isAnswered(key) { schedule.hasten(key, at: now) }
        cache.watch(key)
    }

    /// Ends one `ask`.
    package mutating func stop(_ key: RecordKey) {
        schedule.stop(key)
        cache.unwatch(key)
    }

    /// How often a question was put, by us or by someone else in our place.
    package func timesAsked(_ key: RecordKey) -> Int { schedule.timesAsked(key) }

    /// Somebody has listed an answer that was not known here, and it has not been asked for since.
    package func isBehind(_ key: RecordKey) -> Bool { schedule.isBehind(key) }

    /// Questions are made that may not be sent yet: their known answers are many.
    package var isSending: Bool { schedule.isSending }

    // MARK: Events

    /// The link is asked and heard over these families.
    package mutating func uses(_ families: [IPAddress.Family]) { questions.families = Set(families) }

    /// Questions of one packet that count: another host asks what it needs, not thousands of things.
    private static let questionsHeard = 64

    /// A message was heard.
    /// - Parameter isOwn: this machine sent it.
    package mutating func received(
        _ message: Message, isOwn: Bool, over family: IPAddress.Family = .ipv4, at now: Duration
    ) -> [RecordCache.Change] {
        // RFC 6762 §18.3 and §18.11: what is no query or response, or has an error, says nothing.
        guard message.opcode == 0, message.responseCode == 0 else { return [] }
        guard message.flags.contains(.response) else {
            // Who probes asks for other reasons, and the known answers of a truncated question are not all there.
            guard message.authorities.isEmpty else {
                cache.heardProbe(for: message.authorities.prefix(Self.questionsHeard), at: now)
                return []
            }
            // Nor do questions of this machine: they may be our own.
            let mayCount = !message.flags.contains(.truncated) && !isOwn
            for question in Set(message.questions.prefix(Self.questionsHeard))
            where !question.wantsUnicastResponse && question.recordClass == .internet {
                let key = RecordKey(question.name, question.type)
                let concerns = schedule.follows(key) || cache.store.count(of: key) > 0
                let counts = mayCount && concerns && questions.isHeardByAll(question, over: family, at: now)
                schedule.heard(
                    question, knownAnswers: message.answers, counts: counts, at: now,
                    knows: { [cache] in cache.isFresh($0, $1, at: now) })
                if counts { cache.heard(question, knownAnswers: message.answers, at: now) }
            }
            return []
        }
        let records = (message.answers + message.additionals).filter { Self.isOfUse($0.type) }
        let changes = cache.receive(records, isOwn: isOwn, at: now)
        if cache.isFull { wasFull = true }
        return changes
    }

    /// What services and their hosts are made of; the rest would be kept for nobody.
    private static func isOfUse(_ type: RecordType) -> Bool {
        switch type {
        case .a, .aaaa, .ptr, .srv, .txt, .nsec: true
        default: false
        }
    }

    /// The link can be asked, and could not before: everything is asked from the beginning.
    package mutating func restart(at now: Duration) { schedule.restartAll(at: now) }

    /// The machine slept, or the link was away: what is known is asked for again before it is believed.
    package mutating func awoke(at now: Duration) {
        cache.reconfirmAll(at: now)
        schedule.restartAll(at: now)
    }

    /// A service could not be reached: what is watched of it and of its hosts is asked for, and forgotten without an answer (RFC 6762 §10.4).
    package mutating func reconfirm(_ service: DomainName, at now: Duration) {
        let targets = cache.records(RecordKey(service, .srv)).compactMap {
            if case .srv(_, _, _, let host) = $0.data { host } else { nil }
        }
        let keys =
            [RecordKey(service, .srv), RecordKey(service, .txt)]
            + targets.flatMap { [RecordKey($0, .a), RecordKey($0, .aaaa)] }
        for key in keys where schedule.follows(key) && cache.isAnswered(key) {
            cache.reconfirm(key, at: now)
            schedule.refresh(key, at: now)
        }
    }

    /// Time has passed: what ended, and what must be asked for again.
    package mutating func advance(to now: Duration) -> [RecordCache.Change] {
        guard let deadline = cache.deadline, deadline <= now else { return [] }
        let (changes, refreshes) = cache.advance(to: now)
        refill(at: now)
        for key in refreshes { schedule.refresh(key, at: now) }
        // Where many may answer the next question comes in its time: one that left is no reason to ask all.
        for case .removed(let key, _) in changes where !key.type.isShared && !cache.isAnswered(key) {
            schedule.restart(key, at: now)
        }
        return changes
    }

    /// What was left out comes back when there is room again: whoever said it is asked.
    private mutating func refill(at now: Duration) {
        guard wasFull, !cache.isFull, refilled.map({ now - $0 >= Self.refillInterval }) ?? true else { return }
        (wasFull, refilled) = (false, now)
        schedule.restartAll(at: now)
    }

    /// The addresses that this machine has on the link now: what is next to them is believed first.
    package mutating func neighbours(_ blocks: [CIDR]) { cache.neighbours = blocks }

    /// What is to be sent now.
    package mutating func packets(at now: Duration) -> [[UInt8]] {
        guard let deadline = schedule.deadline(at: now), deadline <= now else { return [] }
        return schedule.packets(at: now) { [cache] in Self.knowledge($0, cache, at: now) }
    }

    /// When there is something to do again; nil when never.
    package func deadline(at now: Duration) -> Duration? {
        [cache.deadline, schedule.deadline(at: now)].compactMap(\.self).min()
    }

    private static func knowledge(
        _ key: RecordKey, _ cache: RecordCache, at now: Duration
    ) -> QuestionSchedule.Knowledge {
        let need: QuestionSchedule.Need =
            if cache.isAnswered(key) || cache.isDenied(key) {
                .none
            } else if let other = key.otherAddresses, cache.isAnswered(other) {
                .little
            } else {
                .full
            }
        return QuestionSchedule.Knowledge(answers: cache.knownAnswers(key, at: now), need: need)
    }
}

extension RecordKey {
    /// Most hosts send addresses of both families together, and many have one family alone without saying so.
    fileprivate var otherAddresses: RecordKey? {
        switch type {
        case .a: RecordKey(name, .aaaa)
        case .aaaa: RecordKey(name, .a)
        default: nil
        }
    }
}
