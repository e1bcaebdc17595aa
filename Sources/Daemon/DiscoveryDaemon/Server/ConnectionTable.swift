package import DNSSD

/// The connections and what each does: a value that decides which may stay.
///
/// Connections that have not sent a complete request, or do not read, count little: they go first when there is no room, so
/// that slow and silent clients hurt only each other. All TCP clients share one part of the room.
package struct ConnectionTable: Sendable {
    /// Whose connections are counted together.
    package enum Owner: Hashable, Sendable {
        /// A user of this machine.
        case user(UInt32)
        /// What is at the other end of TCP: an IPv4 address, or the 64 bits of an IPv6 one that a host chooses within.
        case network(IPAddress)

        var isNetwork: Bool { if case .network = self { true } else { false } }
    }

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

    /// What to do with a newcomer.
    package enum Admission: Hashable, Sendable {
        case accepted
        /// Close another one.
        case replacing(UInt64)
        case refused(String)
    }

    package struct Limits: Hashable, Sendable {
        package var clients = 64
        package var perUser = 8
        /// Root's commands must get through when everyone else is noisy: this much is root's, of what all have.
        package var forRoot = 48
        package var request: Duration = .seconds(5)
        package var idle: Duration = .seconds(60)
        package var sending: Duration = .seconds(30)
        /// The same over TCP, where anyone who reaches the port may try.
        package var sendingOverNetwork: Duration = .seconds(5)
        /// A connection whose client has read nothing for this long gives way to another client.
        package var stalled: Duration = .seconds(1)
        /// The most bytes of a request's body.
        package var requestBytes = 64 * 1024
        /// The most requests of one connection; who has more to ask connects again.
        package var requests = 100_000
        /// The most bytes that wait for a watcher to read them.
        package var watchBytes = 256 * 1024

        package init() {}

        /// The number of connections that may be watches; the rest are for requests that end.
        static func watchers(of connections: Int) -> Int { connections - connections / 4 }

        /// What others than root may have together.
        var forOthers: Int { clients - clients / 8 }

        /// What all together may have over TCP.
        var forNetwork: Int { max(clients / 2, 1) }

        func connections(of owner: Owner) -> Int {
            switch owner {
            case .user(0): forRoot
            case .user: perUser
            case .network: min(perUser, forNetwork)
            }
        }
    }

    private struct Row {
        let owner: Owner
        /// Its answer is endless.
        var isWatcher = false
        var activity = Activity.idle
        var since: Duration
    }

    package let limits: Limits
    private var rows: [UInt64: Row] = [:]

    package init(limits: Limits = Limits()) { self.limits = limits }

    package var count: Int { rows.count }

    /// A connection was accepted.
    package mutating func connected(_ id: UInt64, of owner: Owner, now: Duration) -> Admission {
        let own = rows.filter { $0.value.owner == owner }
        let ownLimit = limits.connections(of: owner)
        let network = owner.isNetwork ? rows.filter(\.value.owner.isNetwork) : [:]
        let others = owner == .user(0) ? [:] : rows.filter { $0.value.owner != .user(0) }
        var victim: UInt64?
        if own.count >= ownLimit {
            victim = leastWorthy(own, now)
            guard victim != nil else {
                let whose = owner.isNetwork ? "one address" : "one user"
                return .refused("\(ownLimit) connections of \(whose) are open, and all are in use")
            }
        } else if network.count >= limits.forNetwork {
            victim = leastWorthy(network, now) ?? Self.lastOfTheGreediest(network, moreThan: own.count + 1)
            guard victim != nil else {
                return .refused("\(limits.forNetwork) connections over TCP are open, and all are in use")
            }
        } else if rows.count >= limits.clients || others.count >= limits.forOthers {
            victim = leastWorthy(owner.isNetwork ? network : rows.count >= limits.clients ? rows : others, now)
            guard victim != nil else {
                return .refused("\(limits.clients) connections are open, and all are in use")
            }
        }
        if let victim { rows[victim] = nil }
        rows[id] = Row(owner: owner, since: now)
        return victim.map { .replacing($0) } ?? .accepted
    }

    /// A connection asks for an endless answer.
    /// - Returns: why it may not have one.
    package mutating func watches(_ id: UInt64, now: Duration) -> String? {
        guard let row = rows[id] else { return nil }
        let limit = Limits.watchers(of: limits.connections(of: row.owner))
        let all = Limits.watchers(of: row.owner.isNetwork ? limits.forNetwork : limits.clients)
        let whose = row.owner.isNetwork ? "one address" : "one user"
        guard rows.values.count(where: { $0.isWatcher && $0.owner == row.owner }) < limit else {
            return "\(limit) answers of \(whose) go on already, and as many may"
        }
        guard rows.values.count(where: { $0.isWatcher && (!row.owner.isNetwork || $0.owner.isNetwork) }) < all else {
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

    /// The system has all of an answer.
    package mutating func answered(_ id: UInt64, now: Duration) {
        if rows[id]?.activity == .sending { became(.idle, id, now: now) }
    }

    package mutating func closed(_ id: UInt64) { rows[id] = nil }

    /// Connections whose time is over, with what they did for too long; they are forgotten.
    package mutating func takeExpired(now: Duration) -> [(id: UInt64, activity: Activity)] {
        let expired = rows.filter { row in
            let limit: Duration? =
                switch row.value.activity {
                case .idle: limits.idle
                case .receiving: limits.request
                case .sending: row.value.owner.isNetwork ? limits.sendingOverNetwork : limits.sending
                case .serving, .watching: nil
                }
            return limit.map { row.value.since + $0 <= now } ?? false
        }
        for id in expired.keys { rows[id] = nil }
        return expired.map { ($0.key, $0.value.activity) }
    }

    /// The one that has been without a complete request for longest; else the one that has not read for longest, which
    /// root's are not asked.
    private func leastWorthy(_ rows: [UInt64: Row], _ now: Duration) -> UInt64? {
        Self.oldest(rows.filter { $0.value.activity == .idle || $0.value.activity == .receiving })
            ?? Self.oldest(
                rows.filter { row in
                    row.value.activity == .sending && row.value.owner != .user(0)
                        && row.value.since + limits.stalled <= now
                })
    }

    private static func oldest(_ rows: [UInt64: Row]) -> UInt64? {
        rows.min { ($0.value.since, $0.key) < ($1.value.since, $1.key) }?.key
    }

    /// The newest connection of the owner with the most, if that is more than this many.
    private static func lastOfTheGreediest(_ rows: [UInt64: Row], moreThan count: Int) -> UInt64? {
        let byOwner = Dictionary(grouping: rows, by: \.value.owner)
        guard let most = byOwner.values.map(\.count).max(), most > count else { return nil }
        return byOwner.values.filter { $0.count == most }.joined().map(\.key).max()
    }
}

extension ConnectionTable.Owner {
    /// The owner of an address.
    package init(_ address: IPAddress) { self = .network(address.network) }
}
