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
    /// How many are asked at a time.
    private static let mostOpen = 64
    /// How long an answer is waited for.
    static let lifetime = Duration.seconds(2)
    /// The group has been silent for so long before hosts are asked: an answer of several packets is one burst.
    private static let quiet = Duration.milliseconds(20)
    /// The longest wait for that.
    private static let longestWait = Duration.milliseconds(300)
    /// How often a host is asked that says more each time.
    private static let mostRounds = 3

    private enum Proof {
        /// It is asked next, or when there is room.
        case waiting
        /// What it was not told as known, and has not named yet; whether it has named more than was known.
        case asked(awaits: Set<DomainName>, hasMore: Bool, until: Duration)
        /// It has named exactly what it was not told.
        case shown
        case missing
    }

    private struct Host {
        var names: Set<DomainName> = []
        var proof = Proof.waiting
        var rounds = 0
    }

    private enum Stage {
        /// Notes who lists what.
        case listening
        /// Hosts are asked from this time on.
        case asking(from: Duration)
        /// None is asked: there is no need, or there are too many.
        case over
        /// There are too many, and they were to be asked: nothing shows that they have named all.
        case failed
    }

    private var stage = Stage.listening
    private var hosts: [IPv4Address: Host] = [:]
    private var waiting: [IPv4Address] = []
    private var open: [IPv4Address] = []
    private var lastHeard = Duration.zero

    /// A host has named services to the group.
    package mutating func heard(_ names: some Sequence<DomainName>, from host: IPv4Address, at now: Duration) {
        guard mayAsk else { return }
        lastHeard = now
        add(host)
        // What is asked about is known by then, or comes again.
        guard case .waiting? = hosts[host]?.proof else { return }
        hosts[host]?.names.formUnion(names)
        if hosts[host].map({ $0.names.count > Self.mostNames }) ?? false { stop() }
    }

    /// A host has said to a port that it has more than it has listed.
    package mutating func hasList(_ host: IPv4Address) { if mayAsk { add(host) } }

    private mutating func add(_ host: IPv4Address) {
        guard hosts[host] == nil else { return }
        hosts[host] = Host()
        waiting.append(host)
        if hosts.count > Self.mostHosts { stop() }
    }

    /// Asks each host, from a time on.
    package mutating func begin(at start: Duration) {
        if case .listening = stage { stage = .asking(from: start) }
    }

    /// No host is asked any more: each one's answers to a port show the same, or there are too many.
    package mutating func stop() { self = HostQuestions(stage: isAsking ? .failed : .over) }

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

    /// Whether a host's answer is waited for.
    package func awaits(_ host: IPv4Address) -> Bool { if case .asked? = hosts[host]?.proof { true } else { false } }

    /// Whether there are hosts, and each has shown that nothing is missing.
    package var areAllShown: Bool {
        !hosts.isEmpty && hosts.values.allSatisfy { if case .shown = $0.proof { true } else { false } }
    }

    package func hasShown(_ host: IPv4Address) -> Bool { if case .shown? = hosts[host]?.proof { true } else { false } }

    /// When to call `next`; nil for never.
    package var deadline: Duration? {
        guard case .asking(let start) = stage else { return nil }
        let next =
            waiting.isEmpty || open.count >= Self.mostOpen
            ? nil : max(start, min(lastHeard + Self.quiet, start + Self.longestWait))
        return [next, open.first.flatMap { end(of: $0) }].compactMap(\.self).min()
    }

    private func end(of host: IPv4Address) -> Duration? {
        if case .asked(_, _, let end)? = hosts[host]?.proof { end } else { nil }
    }

    /// Returns the hosts to ask now, with what each has listed; `asked` is called for each of them.
    package mutating func next(at now: Duration) -> [(host: IPv4Address, names: Set<DomainName>)] {
        for host in open where end(of: host).map({ $0 <= now }) ?? true { close(host, .missing) }
        guard let deadline, deadline <= now else { return [] }
        var due: [(host: IPv4Address, names: Set<DomainName>)] = []
        while open.count + due.count < Self.mostOpen, let host = waiting.popLast() {
            if let names = hosts[host]?.names { due.append((host, names)) }
        }
        return due
    }

    /// A host was asked, and told less than all as known.
    package mutating func asked(_ host: IPv4Address, awaiting names: Set<DomainName>, at now: Duration) {
        hosts[host]?.proof = .asked(awaits: names, hasMore: false, until: now + Self.lifetime)
        hosts[host]?.rounds += 1
        open.append(host)
    }

    /// A host could not be asked.
    package mutating func failed(_ host: IPv4Address) { close(host, .missing) }

    /// A host has answered by unicast.
    package mutating func answered(_ names: some Sequence<DomainName>, from host: IPv4Address) {
        guard case .asked(var awaits, var hasMore, let end)? = hosts[host]?.proof else { return }
        for name in names {
            awaits.remove(name)
            if hosts[host]?.names.insert(name).inserted == true { hasMore = true }
        }
        guard hosts[host].map({ $0.names.count <= Self.mostNames }) ?? false else { return stop() }
        guard awaits.isEmpty else {
            hosts[host]?.proof = .asked(awaits: awaits, hasMore: hasMore, until: end)
            return
        }
        guard hasMore else { return close(host, .shown) }
        guard let rounds = hosts[host]?.rounds, rounds < Self.mostRounds else { return close(host, .missing) }
        hosts[host]?.proof = .waiting
        open.removeAll { $0 == host }
        waiting.append(host)
    }

    /// What a host has listed is of no more use.
    private mutating func close(_ host: IPv4Address, _ proof: Proof) {
        hosts[host]?.proof = proof
        hosts[host]?.names = []
        open.removeAll { $0 == host }
    }
}
