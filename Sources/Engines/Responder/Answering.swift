package import DNSMessage
package import DNSSD

/// What is answered over one family of a link, to whom, and when (RFC 6762 §5.4 to §7.4). A value; records are places in `OwnedRecords`.
package struct Answering: Sendable {
    /// The wait where others may answer, too, so that answers do not collide (RFC 6762 §6).
    private static let sharedWait = 20...120
    /// How much later a list is answered that has services of hosts that may come here themselves: who comes to a link asks for lists at
    /// once, and probes within that time (RFC 6762 §8.1).
    private static let hesitation = Duration.milliseconds(250)
    /// The wait for further known answers (RFC 6762 §7.2), and the longest that several packets may cause.
    private static let moreWait = 400...500
    private static let longestWait = Duration.seconds(2)
    /// The shortest interval between two multicasts of a record, and that of one that is told to a probe (RFC 6762 §6).
    private static let interval = Duration.seconds(1)
    private static let probeInterval = Duration.milliseconds(250)
    /// The most questions of a message that are answered.
    static let mostQuestions = 256
    /// The most hosts whose further known answers are awaited, and the most replies that wait.
    private static let mostHeld = 64
    private static let mostReplies = 64
    /// The most records of a reply: more than 512 bytes, and than a packet of an Ethernet, can hold (§6.7). Who asks alone for a list of
    /// thousands must not have each of them looked up.
    private static let mostOfReply = (toResolver: 64, toOther: 128)

    private struct Pending {
        var due: Duration
        /// From when it may go along with others.
        var earliest: Duration
    }

    /// A packet for one host.
    package struct Reply: Sendable {
        package let to: MessageSource
        package fileprivate(set) var places: [Int]
        /// The question of a resolver that does not speak multicast DNS.
        package let question: Message?
        fileprivate var due: Duration
    }

    /// Questions whose known answers are not all here yet.
    private struct Held {
        let since: Duration
        var due: Duration
        var places: Set<Int>
    }

    private let family: IPAddress.Family
    private var pending: [Int: Pending] = [:]
    private var replies: [Reply] = []
    private var held: [IPAddress: Held] = [:]
    /// When records were last said again because somebody withdrew them or let them grow old.
    private var rescued: [Int: Duration] = [:]
    /// The earliest time in all of these.
    private(set) package var deadline: Duration?
    private var random: any RandomNumberGenerator & Sendable

    package init(_ family: IPAddress.Family, random: any RandomNumberGenerator & Sendable) {
        (self.family, self.random) = (family, random)
    }

    // MARK: Questions

    /// Takes a query.
    package mutating func asked(
        _ message: Message, _ arrival: MessageSource, _ records: OwnedRecords, hesitating: Bool = false,
        at now: Duration
    ) {
        defer { look() }
        // RFC 6762 §18.3, §18.11.
        guard !message.flags.contains(.response), message.opcode == 0, message.flags.rawValue & 0xF == 0,
            arrival.isToGroup && !arrival.isOfResolver || arrival.isOnLink
        else { return }
        let known = Set(
            message.answers.compactMap { answer -> Int? in
                guard let place = records.place(of: answer), let entry = records[place] else { return nil }
                return (entry.record.ttl / 2...UInt32(Int32.max)).contains(answer.ttl) ? place : nil
            })
        let isTruncated = message.flags.contains(.truncated) && !arrival.isOfResolver
        if !arrival.isOfResolver { toldMore(known, by: arrival.source, isTruncated: isTruncated, at: now) }
        let pause = hesitating ? Self.hesitation : .zero
        answer(message, arrival, records, known, isTruncated: isTruncated, pause, at: now)
    }

    private mutating func answer(
        _ message: Message, _ arrival: MessageSource, _ records: OwnedRecords, _ known: Set<Int>, isTruncated: Bool,
        _ pause: Duration, at now: Duration
    ) {
        let isProbe = !message.authorities.isEmpty
        var seen: Set<RecordKey> = []
        var (group, alone): ([Int], [Int]) = ([], [])
        let most = arrival.isOfResolver ? Self.mostOfReply.toResolver : Self.mostOfReply.toOther
        for question in message.questions.prefix(Self.mostQuestions)
        where seen.insert(RecordKey(question.name, question.type)).inserted {
            let answers = records.answers(
                to: question, over: family, atMost: arrival.isOfResolver ? known.count + most - alone.count : .max)
            for place in answers where !known.contains(place) {
                // Not claimed, and so no reason for whoever claims it to give up.
                if isProbe, records[place]?.kind == .quiet { continue }
                if alone.count < most, isForOne(question, arrival, records[place], at: now) {
                    alone.append(place)
                } else if !arrival.isOfResolver {
                    group.append(place)
                }
            }
        }
        guard !group.isEmpty || !alone.isEmpty else { return }
        if arrival.isOfResolver {
            return reply(alone, to: arrival, message, due: now)
        }
        if isTruncated, !isProbe, held[arrival.source] != nil || held.count < Self.mostHeld {
            var wait = held[arrival.source] ?? Held(since: now, due: now + moreWait(), places: [])
            wait.places.formUnion(group + alone)
            held[arrival.source] = wait
            return
        }
        let isAlone = message.questions.count == 1 && (group + alone).allSatisfy { records[$0]?.isUnique == true }
        let isAtOnce = isProbe || isAlone
        let wait = isAtOnce ? .zero : pause + .milliseconds(Int.random(in: Self.sharedWait, using: &random))
        let least = isAtOnce ? .zero : pause + .milliseconds(Self.sharedWait.lowerBound)
        if !alone.isEmpty {
            if replies.count < Self.mostReplies {
                reply(alone, to: arrival, nil, due: now + wait)
            } else {
                group += alone
            }
        }
        for place in group {
            let interval = isProbe ? Self.probeInterval : Self.interval
            let free = records[place]?.said(over: family).map { $0 + interval } ?? now
            want(place, due: max(now + wait, free), earliest: max(now + least, free))
        }
    }

    /// Whether the asker alone gets an answer: a resolver; who asks this machine alone (RFC 6762 §5.5); who wants it so, if others
    /// have heard it within a quarter of its TTL (§5.4). Never one that is not on the link (§11).
    private func isForOne(
        _ question: Question, _ arrival: MessageSource, _ entry: OwnedRecords.Entry?, at now: Duration
    ) -> Bool {
        guard let entry, arrival.isOnLink else { return false }
        if arrival.isOfResolver || !arrival.isToGroup { return true }
        guard question.wantsUnicastResponse, let said = entry.said(over: family) else { return false }
        return now - said < .seconds(entry.record.ttl) / 4
    }

    private mutating func reply(_ places: [Int], to arrival: MessageSource, _ question: Message?, due: Duration) {
        guard replies.count < Self.mostReplies else { return }
        replies.append(Reply(to: arrival, places: places.uniqued(), question: question, due: due))
    }

    private mutating func moreWait() -> Duration { .milliseconds(Int.random(in: Self.moreWait, using: &random)) }

    /// A host has said what more it knows.
    private mutating func toldMore(_ known: Set<Int>, by source: IPAddress, isTruncated: Bool, at now: Duration) {
        guard var wait = held[source] else { return }
        wait.places.subtract(known)
        if isTruncated { wait.due = min(now + moreWait(), wait.since + Self.longestWait) }
        held[source] = wait.places.isEmpty ? nil : wait
    }

    private mutating func want(_ place: Int, due: Duration, earliest: Duration) {
        let before = pending[place]
        pending[place] = Pending(
            due: min(before?.due ?? due, due), earliest: min(before?.earliest ?? earliest, earliest))
    }

    // MARK: What others say

    /// Another host has multicast a record that is ours, too. As a whole answer that all have heard it need not be said again (RFC 6762
    /// §7.4); one that grows old or is withdrawn is said at once (§6.6, §10.1). After those of a message comes `look`.
    package mutating func heard(
        _ place: Int, ttl: UInt32, _ entry: OwnedRecords.Entry, byAll: Bool, at now: Duration
    ) {
        guard entry.kind != .negative, entry.isSaid(over: family) else { return }
        if ttl >= entry.record.ttl {
            if byAll { pending[place] = nil }
        } else if ttl < entry.record.ttl / 2, entry.kind == .announced {
            // Once a second: others keep for a second what is withdrawn (§10.1), so that the next one is in time, too.
            let free = max(now, rescued[place].map { $0 + Self.interval } ?? now)
            guard pending[place].map({ $0.due > free }) ?? true else { return }
            rescued[place] = free
            let wait = entry.isUnique ? Duration.zero : .milliseconds(Int.random(in: Self.sharedWait, using: &random))
            want(place, due: free + (free > now ? .zero : wait), earliest: free)
        }
    }

    // MARK: What is due

    /// Takes what is to be multicast now, in order.
    package mutating func take(_ records: OwnedRecords, at now: Duration) -> [Int] {
        for (source, wait) in held where wait.due <= now {
            held[source] = nil
            for place in wait.places {
                let free = records[place]?.said(over: family).map { $0 + Self.interval } ?? now
                want(place, due: max(now, free), earliest: max(now, free))
            }
        }
        guard pending.values.contains(where: { $0.due <= now }) else {
            look()
            return []
        }
        let due = pending.filter { $0.value.earliest <= now }.map(\.key).sorted()
        for place in due { pending[place] = nil }
        look()
        return due
    }

    /// Takes the packets for single hosts that are due.
    package mutating func takeReplies(at now: Duration) -> [Reply] {
        let due = replies.filter { $0.due <= now }
        guard !due.isEmpty else { return [] }
        replies.removeAll { $0.due <= now }
        look()
        return due
    }

    /// Says to the group what did not fit into a reply.
    package mutating func overflowed(_ places: some Sequence<Int>, _ records: OwnedRecords, at now: Duration) {
        for place in places {
            let free = records[place]?.said(over: family).map { $0 + Self.interval } ?? now
            want(place, due: max(now, free), earliest: max(now, free))
        }
        look()
    }

    /// Records were multicast for another reason, or are gone.
    package mutating func settle(_ places: some Sequence<Int>, areGone: Bool) {
        let gone = Set(places)
        guard !gone.isEmpty else { return }
        for place in gone { pending[place] = nil }
        if areGone {
            for place in gone { rescued[place] = nil }
            for source in Array(held.keys) { held[source]?.places.subtract(gone) }
            for index in replies.indices { replies[index].places.removeAll(where: gone.contains) }
        }
        look()
    }

    /// Finds the deadline anew.
    package mutating func look() {
        deadline = [
            pending.values.lazy.map(\.due).min(), replies.lazy.map(\.due).min(), held.values.lazy.map(\.due).min(),
        ].compactMap(\.self).min()
    }
}
