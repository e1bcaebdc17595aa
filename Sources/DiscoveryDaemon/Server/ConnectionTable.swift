/// Who is connected and what each does: a value that says who may stay.
///
/// Connections that have not sent a complete request count little: they go first when there is no room, so that slow and
/// silent clients hurt only each other.
package struct ConnectionTable: Sendable {
    /// What a connection does.
    package enum Activity: Hashable, Sendable {
        /// No byte of a request has come.
        case idle
        /// A request has begun and is not complete.
        case receiving
        /// It waits for us.
        case serving
        /// It waits for news, as long as it likes.
        case watching
        /// It has not taken yet what was sent.
        case sending
    }

    /// What is to become of a newcomer.
    package enum Admission: Hashable, Sendable {
        case accepted
        /// Another one is to be closed.
        case replacing(UInt64)
        case refused(String)
    }

    package struct Limits: Sendable {
        package var clients = 64
        package var perUser = 8
        /// Root's commands must get through when everyone else is noisy: this much is root's, of what all have.
        package var forRoot = 48
        package var request: Duration = .seconds(5)
        package var idle: Duration = .seconds(60)
        package var sending: Duration = .seconds(30)
        /// The most bytes of a request's body.
        package var requestBytes = 64 * 1024
        /// The most bytes that wait for a watcher to read them.
        package var watchBytes = 256 * 1024

        package init() {}

        /// Of so many connections this many may be watched: the rest is for requests that have an end.
        static func watchers(of connections: Int) -> Int { connections - connections / 4 }

        /// What others than root may have together.
        var forOthers: Int { clients - clients / 8 }

        func forUser(_ uid: UInt32?) -> Int { uid == 0 ? forRoot : perUser }
    }

    private struct Row {
        let uid: UInt32?
        /// Its answer has no end.
        var isWatcher = false
        var activity = Activity.idle
        var since: Duration
    }

    package let limits: Limits
    private var rows: [UInt64: Row] = [:]

    package init(limits: Limits = Limits()) { self.limits = limits }

    package var count: Int { rows.count }

    /// A connection was accepted.
    package mutating func connected(_ id: UInt64, uid: UInt32?, now: Duration) -> Admission {
        let own = rows.filter { $0.value.uid == uid }
        let userLimit = limits.forUser(uid)
        let others = uid == 0 ? [:] : rows.filter { $0.value.uid != 0 }
        var admission = Admission.accepted
        if own.count >= userLimit {
            guard let victim = Self.leastWorthy(own) else {
                return .refused("\(userLimit) connections of one user are open, and all are in use")
            }
            rows[victim] = nil
            admission = .replacing(victim)
        } else if rows.count >= limits.clients || others.count >= limits.forOthers {
            guard let victim = Self.leastWorthy(rows.count >= limits.clients ? rows : others) else {
                return .refused("\(limits.clients) connections are open, and all are in use")
            }
            rows[victim] = nil
            admission = .replacing(victim)
        }
        rows[id] = Row(uid: uid, since: now)
        return admission
    }

    /// A connection asks for an answer without end.
    /// - Returns: why it may not have one.
    package mutating func watches(_ id: UInt64, now: Duration) -> String? {
        guard let row = rows[id] else { return nil }
        let limit = Limits.watchers(of: limits.forUser(row.uid))
        let all = Limits.watchers(of: limits.clients)
        guard rows.values.count(where: { $0.isWatcher && $0.uid == row.uid }) < limit else {
            return "\(limit) answers of one user go on already, and as many may"
        }
        guard rows.values.count(where: \.isWatcher) < all else {
            return "\(all) answers go on already, and as many may"
        }
        rows[id]?.isWatcher = true
        became(.watching, id, now: now)
        return nil
    }

    package mutating func became(_ activity: Activity, _ id: UInt64, now: Duration) {
        guard let row = rows[id], row.activity != activity else { return }
        rows[id]?.activity = activity
        if activity == .idle { rows[id]?.isWatcher = false }
        rows[id]?.since = now
    }

    /// Bytes came: a request begins, unless one is being served.
    package mutating func received(_ id: UInt64, now: Duration) {
        if rows[id]?.activity == .idle { became(.receiving, id, now: now) }
    }

    package mutating func closed(_ id: UInt64) { rows[id] = nil }

    /// Those whose time is over, with what they did for too long; they are forgotten.
    package mutating func takeExpired(now: Duration) -> [(id: UInt64, activity: Activity)] {
        let expired = rows.filter { row in
            let limit: Duration? =
                switch row.value.activity {
                case .idle: limits.idle
                case .receiving: limits.request
                case .sending: limits.sending
                case .serving, .watching: nil
                }
            return limit.map { row.value.since + $0 <= now } ?? false
        }
        for id in expired.keys { rows[id] = nil }
        return expired.map { ($0.key, $0.value.activity) }
    }

    /// The one that has been without a complete request for longest.
    private static func leastWorthy(_ rows: [UInt64: Row]) -> UInt64? {
        rows.filter { $0.value.activity == .idle || $0.value.activity == .receiving }
            .min { ($0.value.since, $0.key) < ($1.value.since, $1.key) }?.key
    }
}
