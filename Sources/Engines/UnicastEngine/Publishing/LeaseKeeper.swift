import DNSMessage
import DNSSD
import Discovery

/// Writes a publisher's lease, renews it, finds out whether the server still has it, and removes it at the end.
struct LeaseKeeper: Sendable {
    /// What the lease is needed for.
    enum Demand {
        /// There is nothing in the zone, and nothing is to be.
        case nothing
        /// Something is only to be removed.
        case removal
        /// Something is to be in the zone, or a host must leave it.
        case records
    }

    /// What the server's replies mean for the rest of the publisher.
    enum Notice {
        /// The lease holds for another while.
        case renewed
        /// The server has some lease of this publisher.
        case isThere
        /// The server has no lease although it said that it has, and nothing is known that may have ended it.
        case leftOut
        /// Others have taken everything back, or the zone was restored from an older state.
        case takenBack
        /// The manifest lists something unknown here, because an update arrived late.
        case manifestIsNotEmpty
        /// Nothing can be sent for a while.
        case pause(ZonePublisher.Trouble)
    }

    /// A lease that the server has, as far as is known.
    private struct Term: Sendable {
        enum Basis { case acknowledged, assumed }

        var current: Lease
        /// The lease that was sent to replace it, perhaps without an answer. It is sent again unchanged, so that the server can only have one
        /// of the two.
        var pending: Lease?
        var renewAt: Duration
        /// When it ends, so that others may take the records back.
        var endsAt: Duration
        /// Whether the server said that it has it, and nothing is known that may have ended it since.
        var basis: Basis
    }

    private enum Errand: Sendable {
        case none
        case renewing(sentAt: Duration)
        /// The server must be asked which lease it has.
        case doubted
        /// A reply to the renewal may end the doubt.
        case renewingInDoubt(sentAt: Duration)
        case checking

        var inDoubt: Errand {
            switch self {
            case .none: .doubted
            case .renewing(let sentAt): .renewingInDoubt(sentAt: sentAt)
            case .doubted, .renewingInDoubt, .checking: self
            }
        }
    }

    private enum State: Sendable {
        /// The index has not been read, and nothing is in the zone.
        case unlisted
        case readingIndex
        /// The index has room for the lease.
        case unwritten
        case writing(Lease, sentAt: Duration)
        /// The server may have a lease that was written without an answer, and has none that others have not taken back.
        case lost
        case held(Term, Errand)
        /// Nothing new is sent until the lease is known to exist or is written again.
        case removing(Term?)
    }

    private let records: PublisherRecords
    private let seconds: Int
    private let session: UInt64
    private var count: UInt64 = 0
    private var state = State.unlisted

    init(_ records: PublisherRecords, seconds: Int, session: UInt64) {
        self.records = records
        self.seconds = seconds
        self.session = session
    }

    // MARK: What is known

    private var term: Term? {
        switch state {
        case .held(let term, _): term
        case .removing(let term): term
        default: nil
        }
    }

    /// Whether the server has the lease.
    var isHeld: Bool { term != nil }

    /// Whether the server may have the lease.
    var mayExist: Bool {
        switch state {
        case .unlisted, .readingIndex, .unwritten: false
        case .writing, .lost, .held, .removing: true
        }
    }

    /// When it must be renewed, and when it ends; nil without a lease.
    var renewAt: Duration? { term?.renewAt }
    var endsAt: Duration? { term?.endsAt }

    /// Returns whether other requests may be sent. Those that only look and remove need no lease if it was never acknowledged: nothing but the
    /// lease itself can have been written.
    func allowsOthers(_ demand: Demand) -> Bool {
        switch state {
        case .held(_, .none), .held(_, .renewing): true
        case .unwritten, .lost: demand != .records
        default: false
        }
    }

    // MARK: Doubts

    /// The server's answers do not fit the lease.
    mutating func doubt() {
        guard case .held(let term, let errand) = state else { return }
        state = .held(term, errand.inDoubt)
    }

    /// Others may have taken it back.
    mutating func mayBeGone() {
        doubt()
        guard case .held(var term, let errand) = state else { return }
        term.basis = .assumed
        state = .held(term, errand)
    }

    mutating func renew(at now: Duration) {
        guard case .held(var term, let errand) = state else { return }
        term.renewAt = now
        state = .held(term, errand)
    }

    // MARK: Requests and replies

    mutating func next(_ now: Duration, _ demand: Demand) -> ZoneRequest? {
        switch state {
        case .unlisted where demand != .nothing:
            state = .readingIndex
            return .ask(records.index, .ptr)
        case .unwritten where demand == .records, .lost where demand == .records:
            let new = make()
            state = .writing(new, sentAt: now)
            return records.write(new, over: nil)
        case .held(let term, .doubted):
            state = .held(term, .checking)
            return .ask(records.lease, .txt)
        case .held(var term, .none) where term.renewAt <= now:
            let new = term.pending ?? make()
            term.pending = new
            state = .held(term, .renewing(sentAt: now))
            return records.write(new, over: term.current)
        default: return nil
        }
    }

    /// Removes the lease; nothing else may be in the zone.
    mutating func remove() -> ZoneRequest {
        var term = term
        term?.basis = .assumed
        state = .removing(term)
        return records.update(records.lease) { $0.removeLease(of: records.id, records.layout) }
    }

    /// - Parameter jitter: 0 to 1; spreads the renewals of publishers that began together.
    mutating func received(_ reply: ZoneReply, _ now: Duration, jitter: Double) -> [Notice] {
        switch state {
        case .readingIndex: return indexRead(reply)
        case .writing(let lease, let sentAt):
            guard case .outcome(.done) = reply else {
                state = .lost
                return trouble(reply)
            }
            return became(lease, from: sentAt, .acknowledged, jitter)
        case .held(let term, .renewing(let sentAt)): return renewed(term, .none, reply, from: sentAt, jitter)
        case .held(let term, .renewingInDoubt(let sentAt)): return renewed(term, .doubted, reply, from: sentAt, jitter)
        case .held(let term, .checking): return checked(term, reply, jitter)
        case .removing(let term): return removed(term, reply)
        case .unlisted, .unwritten, .lost, .held: return []
        }
    }

    private mutating func indexRead(_ reply: ZoneReply) -> [Notice] {
        state = .unlisted
        guard case .records(let answer) = reply else { return [] }
        let listed = Set(answer.targets)
        guard listed.count < ZoneLayout.mostRecords || listed.contains(records.lease) else {
            let text =
                "\(listed.count) machines are listed at \(records.index): no more than \(ZoneLayout.mostRecords) may be"
            return [.pause(.refused(DiscoveryError(.serverLimitReached, text)))]
        }
        state = .unwritten
        return []
    }

    private mutating func renewed(
        _ term: Term, _ errand: Errand, _ reply: ZoneReply, from sentAt: Duration, _ jitter: Double
    ) -> [Notice] {
        state = .held(term, errand)
        switch reply {
        case .outcome(.done):
            guard let new = term.pending else { return [] }
            // A renewal requires the earlier lease.
            return [.isThere] + became(new, from: sentAt, .acknowledged, jitter)
        case .outcome(.refused), .outcome(.serverFailed), .outcome(.unheard): return trouble(reply)
        // The server has another lease than the current one, or the last answer was lost.
        default:
            doubt()
            return []
        }
    }

    private mutating func checked(_ term: Term, _ reply: ZoneReply, _ jitter: Double) -> [Notice] {
        guard case .records(let answer) = reply else {
            state = .held(term, .doubted)
            return []
        }
        let text = answer.text
        let presence = text == nil ? [] : [Notice.isThere]
        if let pending = term.pending, pending.data == text {
            // The time at which the server accepted it is not known.
            return presence + became(pending, from: term.endsAt - pending.length, term.basis, jitter)
        }
        guard text != nil, term.current.data == text else {
            state = .lost
            return presence + (text == nil && term.basis == .acknowledged ? [.leftOut] : []) + [.takenBack]
        }
        state = .held(term, .none)
        return presence
    }

    private mutating func removed(_ term: Term?, _ reply: ZoneReply) -> [Notice] {
        state = term.map { .held($0, .doubted) } ?? .lost
        switch reply {
        case .outcome(.done):
            state = .unlisted
            return []
        case .outcome(.recordsExist): return [.manifestIsNotEmpty]
        default: return trouble(reply)
        }
    }

    private mutating func became(_ new: Lease, from sentAt: Duration, _ basis: Term.Basis, _ jitter: Double) -> [Notice]
    {
        // At half its length or a little earlier, so that publishers that began together do not stay together.
        let renewAt = sentAt + new.length * (0.5 - 0.1 * jitter)
        state = .held(Term(current: new, renewAt: renewAt, endsAt: sentAt + new.length, basis: basis), .none)
        return [.renewed]
    }

    private func trouble(_ reply: ZoneReply) -> [Notice] {
        switch reply {
        case .outcome(.refused(let error)): [.pause(.refused(error))]
        case .outcome(.serverFailed): [.pause(.waiting(records.serverFailure))]
        default: []
        }
    }

    private mutating func make() -> Lease {
        count += 1
        return Lease(session: session, count: count, seconds: seconds)
    }
}
