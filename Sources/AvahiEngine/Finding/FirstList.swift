import Discovery
import System

/// When the first list of services is complete, as far as one can know. A value; times and what was seen are given.
///
/// Avahi's `ALL_FOR_NOW` is a timer of one second, not an answer. With many services avahi-daemon reads its socket too slowly,
/// and its buffer is small: some answers wait there, and some are lost. It asks again after a second (RFC 6762 §5.2), with the known
/// answers in several packets, for which responders wait up to 500 ms (§7.2) before they answer within 120 ms. So where something
/// was lost from a crowd, or that cannot be known, it is waited for.
struct FirstList {
    enum Verdict: Equatable {
        case complete
        /// Not known yet: ask again at this time; nil: when `ALL_FOR_NOW` was said.
        case lookAgain(at: MonotonicTime?)
    }

    /// From so many on, answers of avahi-daemon's first query may be lost.
    static let crowd = DiscoveryLimits.crowd
    /// How long what was lost is waited for: until the answers to the second query are all due.
    static let quiet = Duration.milliseconds(750)
    /// How long nothing new must come among these answers; they are spread over 100 ms by §7.2, and over 120 ms by §6.
    static let lull = Duration.milliseconds(400)
    /// How long nothing new must come when nothing was lost: what avahi-daemon has said is on its way over the bus.
    static let calm = Duration.milliseconds(100)
    /// The longest wait after `ALL_FOR_NOW`, for a network that never falls silent. 4000 services take avahi-daemon ten seconds.
    static let limit = Duration.seconds(30)

    private let backlogBefore: PacketBacklog?
    /// When it was first looked at after `ALL_FOR_NOW`.
    private var lostBefore: UInt64?
    private var lostAtLast: UInt64?
    private var count = 0
    private var last: MonotonicTime?
    private var allForNow: MonotonicTime?

    /// - Parameter backlog: before anything was asked.
    init(backlog: PacketBacklog?) { backlogBefore = backlog }

    /// A service was seen for the first time.
    mutating func appeared(at time: MonotonicTime) {
        count += 1
        last = time
    }

    /// Avahi has said `ALL_FOR_NOW`.
    mutating func wasAllForNow(at time: MonotonicTime) { allForNow = allForNow ?? time }

    /// Whether it is complete at this time.
    /// - Parameter backlog: now; only asked for where it matters.
    mutating func verdict(at now: MonotonicTime, backlog: () -> PacketBacklog?) -> Verdict {
        guard let allForNow else { return .lookAgain(at: nil) }
        let end = allForNow + Self.limit
        guard count >= Self.crowd, let last, now < end else { return .complete }
        let backlog = backlog()
        lostBefore = lostBefore ?? backlog?.lost
        lostAtLast = backlog?.lost
        if let backlog, backlog.waiting > 0 { return .lookAgain(at: min(now + Self.calm, end)) }
        let due = due(after: last, allForNow: allForNow, backlog)
        return due <= now ? .complete : .lookAgain(at: min(due, end))
    }

    private func due(after last: MonotonicTime, allForNow: MonotonicTime, _ backlog: PacketBacklog?) -> MonotonicTime {
        // Of what avahi-daemon has not read yet nothing is known.
        guard let backlog else { return max(last, allForNow) + Self.quiet }
        guard backlog.lost != backlogBefore?.lost else { return last + Self.calm }
        return max(last + Self.lull, allForNow + Self.quiet)
    }

    /// Packets were lost after `ALL_FOR_NOW` as well: what the second query brought is not all either.
    var isDoubtful: Bool { lostAtLast != lostBefore }
}
