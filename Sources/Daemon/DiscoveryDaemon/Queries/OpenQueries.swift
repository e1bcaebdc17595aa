package import DNSSD
package import Discovery
internal import DiscoveryControl
internal import DiscoveryJSON
internal import DiscoverySystem

/// The open queries: configured ones always, those of clients for a while after their last use.
package final class OpenQueries: Sendable {
    /// What a feed is about.
    package enum Question: Hashable, Sendable {
        case query(ServiceQuery)
        case all(Domain, InterfaceFilter, IPAddress.Family?, ServiceQuery.Resolution)
    }

    private struct Row {
        let feed: QueryFeed
        var isPinned: Bool
        var users = 0
        var lastUse: Duration
    }

    private struct State {
        var rows: [Question: Row] = [:]
        var lastID: UInt64 = 0
    }

    /// How many queries are kept open for clients.
    package static let limit = 64
    /// How long a query without readers stays open.
    package static let linger: Duration = .seconds(120)

    /// How long an unused answer is kept.
    package static let rest: Duration = .seconds(30)

    /// Differs for each run of the daemon.
    package let epoch = UInt32.random(in: 1 ... .max)
    private let network: LocalNetwork
    private let time = SystemTime()
    private let troubles: @Sendable () -> [String]
    private let state = Locked(State())

    /// - Parameter troubles: what keeps the engine's answers incomplete now.
    package init(network: LocalNetwork, troubles: @escaping @Sendable () -> [String] = { [] }) {
        self.troubles = troubles
        self.network = network
    }

    /// Keeps exactly these types open for good.
    package func pin(_ types: Set<ServiceType>) {
        let questions = Set(types.map { Question.query(ServiceQuery(.type($0, .local), resolution: .watch)) })
        let now = time.now
        let added = state.withLock { state -> [(Question, QueryFeed)] in
            for question in state.rows.keys where state.rows[question]?.isPinned == true {
                state.rows[question]?.isPinned = questions.contains(question)
                state.rows[question]?.lastUse = now
            }
            return questions.compactMap { question in
                guard state.rows[question] == nil else {
                    state.rows[question]?.isPinned = true
                    return nil
                }
                return (question, add(question, isPinned: true, now, &state))
            }
        }
        for (question, feed) in added { follow(question, feed) }
    }

    /// Keeps a feed open for one reader; ends with `end` or the last copy.
    package struct Lease: Sendable {
        package let feed: QueryFeed
        let membership: Membership

        package func end() { membership.leave() }
    }

    /// Opens the feed of a question if needed, for a reader that follows it; nil when too many are open.
    ///
    /// A reader of names gets no feed that resolves: that is up to date now, but behind when a flood comes. While the backend is away none
    /// comes, and only a feed that was open knows what there was.
    package func lease(_ question: Question) -> Lease? {
        let isAway = open(question).map { $0.news.backend.reason != nil } ?? false
        return open(exactly: isAway ? warmer(question) : question)
    }

    private func open(exactly question: Question) -> Lease? {
        enter(question).map { feed in
            Lease(feed: feed, membership: Membership { [weak self] in self?.leave(question) })
        }
    }

    /// Reads the feed of a question until `body` returns.
    /// - Returns: nil, without calling `body`, when too many are open.
    package func withFeed<Result>(_ question: Question, _ body: (QueryFeed) async -> Result) async -> Result? {
        guard let lease = open(exactly: warmer(question)) else { return nil }
        defer { lease.end() }
        return await body(lease.feed)
    }

    /// The feed of a question, only if it is open; for a look, not for waiting.
    package func open(_ question: Question) -> QueryFeed? { state.withLock { $0.rows[warmer(question, $0)]?.feed } }

    /// How much the feed of a question knows.
    enum Knowledge {
        /// All is known: what it does not have is not there.
        case complete
        /// All is known that was not left out.
        case partial
        /// It is not open, or not done.
        case none
    }

    /// What is known of a question.
    func knowledge(of question: Question) -> Knowledge {
        guard let state = open(question)?.news, state.isSettled, state.backend.reason == nil else { return .none }
        // Where something is left out, new sightings come and go without end: they are not waited for.
        if state.degraded != nil { return .partial }
        return isCatchingUp(warmer(question)) ? .none : .complete
    }

    /// Closes feeds without readers for a while.
    package func sweep() {
        let now = time.now
        let old = state.withLock { state in
            let old = state.rows.filter {
                !$0.value.isPinned && $0.value.users == 0 && $0.value.lastUse + Self.linger < now
            }
            for question in old.keys { state.rows[question] = nil }
            return old.values.map(\.feed)
        }
        for feed in old { feed.close() }
        // Only those without a recent request: an answer needed every minute is cheap to make again.
        let resting = state.withLock { state in
            state.rows.values.filter { $0.users == 0 && $0.lastUse + Self.rest < now }.map(\.feed)
        }
        for feed in resting { feed.forgetKept() }
    }

    /// Closes everything.
    package func close() {
        let feeds = state.withLock { state in
            defer { state.rows = [:] }
            return state.rows.values.map(\.feed)
        }
        for feed in feeds { feed.close() }
    }

    /// What is left out of answers now, by the engine or by a query of the configuration; each sentence once. Of other queries the answers
    /// say it: who asks for what cannot be found makes nothing of the daemon worse.
    package var omissions: [String] {
        let feeds = state.withLock { $0.rows.values.filter(\.isPinned).map(\.feed) }
        return Set(troubles() + feeds.compactMap(\.degraded)).sorted()
    }

    /// The open queries: question, feed, whether it is configured, number of readers.
    package var contents: [(question: Question, feed: QueryFeed, isPinned: Bool, users: Int)] {
        state.withLock { $0.rows.map { ($0.key, $0.value.feed, $0.value.isPinned, $0.value.users) } }
    }

    private func enter(_ question: Question) -> QueryFeed? {
        let now = time.now
        enum Found { case open(QueryFeed), new(QueryFeed, evicted: QueryFeed?), full }
        let found = state.withLock { state -> Found in
            if let row = state.rows[question] {
                state.rows[question]?.users += 1
                return .open(row.feed)
            }
            var evicted: QueryFeed?
            if state.rows.values.count(where: { !$0.isPinned }) >= Self.limit {
                let idle = state.rows.filter { !$0.value.isPinned && $0.value.users == 0 }
                guard let oldest = idle.min(by: { $0.value.lastUse < $1.value.lastUse })?.key else { return .full }
                evicted = state.rows.removeValue(forKey: oldest)?.feed
            }
            let feed = add(question, isPinned: false, now, &state)
            state.rows[question]?.users = 1
            return .new(feed, evicted: evicted)
        }
        switch found {
        case .open(let feed): return feed
        case .new(let feed, let evicted):
            evicted?.close()
            follow(question, feed)
            return feed
        case .full: return nil
        }
    }

    private func leave(_ question: Question) {
        let now = time.now
        state.withLock { state in
            state.rows[question]?.users -= 1
            state.rows[question]?.lastUse = now
        }
    }

    private func add(_ question: Question, isPinned: Bool, _ now: Duration, _ state: inout State) -> QueryFeed {
        state.lastID += 1
        let feed = QueryFeed(id: state.lastID, troubles: troubles)
        state.rows[question] = Row(feed: feed, isPinned: isPinned, lastUse: now)
        return feed
    }

    private func follow(_ question: Question, _ feed: QueryFeed) {
        feed.follow { feed in
            switch question {
            case .query(let query): network.follow(query, by: feed)
            case .all(let domain, let interfaces, let family, let resolution):
                network.followAll(
                    TypeQuery(domain: domain, interfaces: interfaces, family: family), resolution: resolution, by: feed)
            }
        }
    }

    private func warmer(_ question: Question) -> Question { state.withLock { warmer(question, $0) } }

    /// The same question with resolving: it answers those without it too, and is taken when it is open already, unless it is behind with
    /// resolving what it has seen: in a flood that takes long, and is not asked for.
    private func warmer(_ question: Question, _ state: State) -> Question {
        let resolving: Question
        let isNeeded: Bool
        switch question {
        case .query(var query):
            isNeeded = query.resolution != .none
            query.resolution = .watch
            resolving = .query(query)
        case .all(let domain, let interfaces, let family, let resolution):
            isNeeded = resolution != .none
            resolving = .all(domain, interfaces, family, .watch)
        }
        guard !isNeeded else { return resolving }
        return state.rows[resolving] != nil && !isCatchingUp(resolving) ? resolving : question
    }

    private func isCatchingUp(_ question: Question) -> Bool {
        switch question {
        case .query(let query): network.isCatchingUp(query)
        case .all: network.isCatchingUpAnywhere
        }
    }
}
