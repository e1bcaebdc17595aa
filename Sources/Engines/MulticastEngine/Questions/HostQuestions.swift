package import DNSMessage
package import DNSSD

/// Questions to each host that answers a list, whether that is all (RFC 6762 §5.5).
///
/// An answer to a port of one's own ends at 512 bytes, and one to the group is lost, or kept back for a second. What comes from port 5353 to one
/// host alone is answered at once, by unicast, with all that it does not list as known: where exactly that comes, nothing is missing, and the
/// host has come as far as this question. A value: receives events with their times.
package struct HostQuestions: Sendable {
    /// Where one lists more, none is asked: most of it fits no question, and comes again.
    private static let mostNames = 256
    /// Where there are more, none is asked: each is a packet, and the kernel's table of neighbours has 1024 places.
    private static let mostHosts = 128
    /// How long a host is asked: avahi-daemon answers after 0.2 to 17 ms.
    private static let patience = Duration.milliseconds(500)
    /// An answer that takes longer is one of a slow link or a busy host, which may have more to say.
    private static let slowest = Duration.milliseconds(50)
    /// What a host has not said to the group a moment ago it says to the group, 20 to 120 ms after it has read the question (RFC 6762 §5.4, §6;
    /// avahi-daemon: within the last second). It has answered when this time is over.
    private static let groupDelay = Duration.milliseconds(180)
    /// An answer of several packets is one burst: after so long without another it is over.
    private static let quiet = Duration.milliseconds(20)
    /// The longest wait for the group to be silent, before hosts are asked.
    private static let longestWait = Duration.milliseconds(300)
    /// How often a host is asked that says more each time.
    private static let mostRounds = 3

    private enum Proof {
        /// It is asked next, or when there is room; once more if it has named more than was known.
        case waiting
        /// What it was not told as known, and has not named yet; whether it has named more than was known; since when.
        case asked(awaits: Set<DomainName>, hasMore: Bool, since: Duration)
        /// It has named that, and may go on; when its answer is judged, and at the latest.
        case answering(hasMore: Bool, until: Duration, latest: Duration)
        /// It has named exactly what it was not told.
        case shown
        case missing
        /// It has not answered, or not soon.
        case late
    }

    private struct Host {
        var names: Set<DomainName> = []
        var proof = Proof.waiting
        var rounds = 0
        /// The packets that it has sent since it is asked by itself, by unicast or to the group.
        var answers = 0
        /// How it has answered a port (`ListAnswers.Way`).
        var ways: UInt8 = 0
    }

    private enum Stage {
        /// Notes who lists what.
        case listening
        /// Hosts are asked from this time on.
        case asking(from: Duration)
        /// None is asked: there is no need, or there are too many.
        case over
        /// There are too many, and they were to be asked: nothing shows that they have named all. Whether each has answered, and
        /// soon.
        case failed(haveAllAnswered: Bool, wasAnyLate: Bool)
    }

    private var stage = Stage.listening
    private var hosts: [IPv4Address: Host] = [:]
    private var waiting: [IPv4Address] = []
    private var open: [IPv4Address] = []
    private var lastHeard = Duration.zero

    package init() {}
    private init(stage: Stage) { self.stage = stage }

    /// Whether hosts may be asked, now or later.
    package var mayAsk: Bool {
        switch stage {
        case .listening, .asking: true
        case .over, .failed: false
        }
    }

    /// Whether hosts have to show that they have named all: nothing else shows it.
    package var isAsking: Bool {
        switch stage {
        case .asking, .failed: true
        case .listening, .over: false
        }
    }

    /// The hosts whose answers are waited for, or go on.
    package var awaited: [IPv4Address] { open }

    /// Whether a host's answer is waited for, or goes on.
    package func awaits(_ host: IPv4Address) -> Bool {
        switch hosts[host]?.proof {
        case .asked, .answering: true
        case .waiting, .shown, .missing, .late, nil: false
        }
    }

    /// Whether there are hosts, and each has shown that nothing is missing.
    package var areAllShown: Bool {
        !hosts.isEmpty && hosts.values.allSatisfy { if case .shown = $0.proof { true } else { false } }
    }

    /// Whether there are hosts, and each has said what it has, asked by itself: should something be missing, it is no longer because an answer
    /// to a port was cut.
    var haveAllAnswered: Bool {
        if case .failed(let haveAllAnswered, _) = stage { return haveAllAnswered }
        return !hosts.isEmpty && hosts.values.allSatisfy { $0.answers > 0 }
    }

    /// Whether a host has not answered soon, or is still waited for. It may be as slow with what it says to the group.
    var isAnyLate: Bool {
        if case .failed(_, let wasAnyLate) = stage { return wasAnyLate }
        return !open.isEmpty || wasAnyLate
    }

    private var wasAnyLate: Bool { hosts.values.contains { if case .late = $0.proof { true } else { false } } }

    /// The hosts that have shown it.
    package var shown: [IPv4Address] {
        hosts.filter { if case .shown = $0.value.proof { true } else { false } }.map(\.key)
    }

    // MARK: Who lists what

    /// A host has named services to the group.
    package mutating func heard(_ names: some Sequence<DomainName>, from host: IPv4Address, at now: Duration) {
        guard mayAsk else { return }
        lastHeard = now
        add(host)
        switch hosts[host]?.proof {
        case .waiting: _ = note(names, of: host)
        case .asked(let awaits, let hasMore, let since):
            let isNew = note(names, of: host)
            hosts[host]?.answers += 1
            hosts[host]?.proof = .asked(awaits: awaits, hasMore: isNew || hasMore, since: since)
        case .answering(let hasMore, let end, let latest):
            let isNew = note(names, of: host)
            hosts[host]?.proof = .answering(hasMore: isNew || hasMore, until: end, latest: latest)
        case .shown, .missing, .late, nil: return
        }
        if hosts[host].map({ $0.names.count > Self.mostNames }) ?? false { stop() }
    }

    /// Notes the names of a host.
    /// - Returns: whether one was not known.
    private mutating func note(_ names: some Sequence<DomainName>, of host: IPv4Address) -> Bool {
        names.reduce(false) { hosts[host]?.names.insert($1).inserted == true || $0 }
    }

    /// A host has answered a port: it has the list. Who does so twice is two responders, of which one alone hears what is said to their
    /// address: what that one shows is not all.
    package mutating func answeredPort(_ host: IPv4Address, _ way: ListAnswers.Way) {
        guard mayAsk else { return }
        add(host)
        let ways = hosts[host]?.ways ?? 0
        if ways & way.rawValue != 0 { close(host, .missing) }
        hosts[host]?.ways = ways | way.rawValue
    }

    private mutating func add(_ host: IPv4Address) {
        guard hosts[host] == nil else { return }
        hosts[host] = Host()
        waiting.append(host)
        if hosts.count > Self.mostHosts { stop() }
    }

    // MARK: Asking

    /// Asks each host, from a time on.
    package mutating func begin(at start: Duration) {
        if case .listening = stage { stage = .asking(from: start) }
    }

    /// No host is asked any more: each one's answers to a port show the same, or there are too many.
    package mutating func stop() {
        self = HostQuestions(
            stage: isAsking ? .failed(haveAllAnswered: haveAllAnswered, wasAnyLate: wasAnyLate) : .over)
    }

    /// When to call `next`; nil for never.
    package var deadline: Duration? {
        guard case .asking(let start) = stage else { return nil }
        let next = waiting.isEmpty ? nil : max(start, min(lastHeard + Self.quiet, start + Self.longestWait))
        return (open.compactMap { judged($0) } + [next].compactMap(\.self)).min()
    }

    private func judged(_ host: IPv4Address) -> Duration? {
        switch hosts[host]?.proof {
        case .asked(_, _, let since): since + Self.patience
        case .answering(_, let end, _): end
        case .waiting, .shown, .missing, .late, nil: nil
        }
    }

    /// Looks at the answers that are over.
    package mutating func judge(at now: Duration) {
        for host in open where judged(host).map({ $0 <= now }) ?? true { judge(host) }
    }

    /// Returns the hosts to ask now, after `judge`, `limit` at most, with what each has listed; `asked` or `failed` is called for each of them.
    /// Those for which there is no room show nothing.
    package mutating func next(atMost limit: Int, at now: Duration) -> [(host: IPv4Address, names: Set<DomainName>)] {
        guard let deadline, deadline <= now else { return [] }
        var due: [(host: IPv4Address, names: Set<DomainName>)] = []
        for host in waiting.reversed() {
            if due.count < limit, let names = hosts[host]?.names {
                due.append((host, names))
            } else {
                close(host, .missing)
            }
        }
        waiting = []
        return due
    }

    /// A host was asked, and told less than all as known. Of one that has listed nothing yet, no answer shows that it is all.
    package mutating func asked(_ host: IPv4Address, awaiting names: Set<DomainName>, at now: Duration) {
        hosts[host]?.proof = .asked(awaits: names, hasMore: names.isEmpty, since: now)
        hosts[host]?.rounds += 1
        open.append(host)
    }

    /// A host could not be asked.
    package mutating func failed(_ host: IPv4Address) { close(host, .missing) }

    /// A host has answered by unicast, with one packet or the next.
    package mutating func answered(_ names: Set<DomainName>, from host: IPv4Address, at now: Duration) {
        guard awaits(host), !names.isEmpty else { return }
        hosts[host]?.answers += 1
        let isNew = note(names, of: host)
        guard hosts[host].map({ $0.names.count <= Self.mostNames }) ?? false else { return stop() }
        switch hosts[host]?.proof {
        case .asked(var awaits, let hasMore, let since):
            guard now - since <= Self.slowest else { return close(host, .late) }
            awaits.subtract(names)
            let latest = since + Self.patience
            hosts[host]?.proof =
                awaits.isEmpty
                ? .answering(hasMore: isNew || hasMore, until: min(now + Self.groupDelay, latest), latest: latest)
                : .asked(awaits: awaits, hasMore: isNew || hasMore, since: since)
        case .answering(let hasMore, _, let latest):
            let end = min(now + Self.groupDelay, latest)
            hosts[host]?.proof = .answering(hasMore: isNew || hasMore, until: end, latest: latest)
        case .waiting, .shown, .missing, .late, nil: return
        }
    }

    /// A host's answer is over, or has not come.
    private mutating func judge(_ host: IPv4Address) {
        guard case .answering(let hasMore, _, _)? = hosts[host]?.proof, let rounds = hosts[host]?.rounds else {
            // Who says it to the group instead is there.
            return close(host, hosts[host].map { $0.answers > 0 } == true ? .missing : .late)
        }
        guard hasMore else { return close(host, .shown) }
        guard rounds < Self.mostRounds else { return close(host, .missing) }
        hosts[host]?.proof = .waiting
        open.removeAll { $0 == host }
        waiting.append(host)
    }

    /// What a host has listed is of no more use.
    private mutating func close(_ host: IPv4Address, _ proof: Proof) {
        hosts[host]?.proof = proof
        hosts[host]?.names = []
        open.removeAll { $0 == host }
        waiting.removeAll { $0 == host }
    }
}
