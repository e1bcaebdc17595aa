import DNSMessage
import DNSSD
import Discovery
import DiscoverySystem
import Records

/// Looks at the records of one name on one interface, again and again as long as they are wanted. Used only on the loop's thread.
///
/// Asks, takes, lets go: each lookup is freed as soon as it has answered, and made again when it has not.
final class WatchedName {
    enum Subject {
        /// SRV and TXT, which one resolver reports: two record browsers would be twice as many calls.
        case service
        /// A and AAAA, each with a record browser: a resolver reports only one address.
        case host
    }

    private enum Phase { case waiting, looking, sleeping, over }

    /// The rounds over each family before a name that must exist counts as silent: together they last 4.5 s, about as long as Avahi's own
    /// resolver tries.
    private static let allRounds = 5
    /// The same for a host's first addresses, which may well not exist: one packet may be lost.
    private static let firstRounds = 2
    /// The number of looks during which a missing record may be due to a lost packet.
    private static let newLooks = 3

    let name: DomainName
    let subject: Subject
    /// Whether someone waits for it: it skips the line.
    let isUrgent: Bool
    /// The types that are wanted.
    private var types: Set<RecordType> = []
    /// What the last looks found; empty: nothing; nil: no look is over.
    private(set) var records: [RecordType: [KnownRecord]] = [:]
    /// The families of a host's addresses that are gone, without a word.
    private var lost: Set<RecordType> = []

    private let interface: NetworkInterface
    private let connection: AvahiConnection
    private let lines: LookLines
    private let changed: ([RecordKey]) -> Void
    private let timer: LoopTimer
    private let families: () -> [IPAddress.Family]
    private var resolvers: [AvahiLookup] = []
    /// What a resolver has reported, and whether this machine publishes it.
    private var answer: [RecordType: [RecordData: Bool]] = [:]
    private var browsers: [RecordType: AvahiLookup] = [:]
    private var round = LookRound([], known: [], isNew: true, at: .now)
    private var rounds = 0
    /// The types that this look has not found.
    private var left: Set<RecordType> = []
    /// The number of looks that found nothing new.
    private var looks = 0
    private var retryDelay = Duration.seconds(1)
    private var phase = Phase.waiting {
        didSet { lines.sleeping += (phase == .sleeping ? 1 : 0) - (oldValue == .sleeping ? 1 : 0) }
    }

    /// - Parameters:
    ///   - families: returns the families over which a service can be asked.
    ///   - changed: receives the keys of which something else is known, on the loop's thread.
    init(
        _ name: DomainName, _ subject: Subject, isUrgent: Bool, on interface: NetworkInterface,
        over families: @escaping () -> [IPAddress.Family], _ connection: AvahiConnection, _ lines: LookLines,
        changed: @escaping ([RecordKey]) -> Void
    ) {
        (self.name, self.subject, self.isUrgent) = (name, subject, isUrgent)
        (self.interface, self.families, self.changed) = (interface, families, changed)
        (self.connection, self.lines) = (connection, lines)
        timer = LoopTimer(loop: lines.loop)
    }

    var isLooking: Bool { phase == .looking }
    /// Whether the last look found nothing.
    var isSilent: Bool { records.values.allSatisfy(\.isEmpty) }

    /// After the last round of a look silence says that there is none; but a host that was there has not said that it has no address.
    func standing(_ type: RecordType) -> Standing {
        guard let known = records[type], known.isEmpty else { return .unknown }
        return isSilent && !lost.isEmpty ? .failed : .denied
    }

    func want(_ type: RecordType) {
        guard types.insert(type).inserted else { return }
        lookAgain(within: .zero)
    }

    /// - Returns: whether nothing is wanted any more.
    func drop(_ type: RecordType) -> Bool {
        types.remove(type)
        return types.isEmpty
    }

    /// Looks as soon as it is its turn.
    func submit() {
        lines.add(subject, isUrgent: isUrgent) { [weak self] in
            guard let self, phase == .waiting, connection.isOpen else { return false }
            phase = .looking
            (rounds, left) = (0, types)
            begin()
            return true
        }
    }

    /// Brings the next look forward to `delay` from now.
    func lookAgain(within delay: Duration) {
        guard phase == .sleeping, let deadline = timer.deadline else { return }
        timer.deadline = min(deadline, MonotonicTime.now + delay)
    }

    /// Nothing of it is wanted any more.
    func cancel() {
        let wasLooking = isLooking
        phase = .over
        freeLookups()
        timer.free()
        if wasLooking { lines.finished(subject) }
    }

    private func begin() {
        freeLookups()
        timer.fire = { [weak self] in self?.timerFired() }
        switch subject {
        case .service: resolve()
        case .host: browse()
        }
        rounds += 1
    }

    private func resolve() {
        answer = [:]
        let families = families()
        // Without urgency, the families take turns.
        for family in isUrgent || families.isEmpty ? families : [families[rounds % families.count]] {
            let resolver = try? connection.resolve(name, on: interface, over: family) { [weak self] answer in
                guard let self, phase == .looking, self.answer.isEmpty else { return }
                self.answer = [.srv: [answer.service: answer.isLocal], .txt: [answer.text: answer.isLocal]]
                // Freed there, outside of its callback.
                timer.deadline = .now
            }
            if let resolver { resolvers.append(resolver) }
        }
        // Where none could be made, the next round tries again.
        timer.deadline = .now + LookRound.limit
    }

    private func browse() {
        let known = Set(records.filter { !$0.value.isEmpty }.keys)
        round = LookRound(left, known: known, isNew: looks < Self.newLooks, at: .now)
        for type in left {
            do throws(DiscoveryError) {
                // Addresses of either family are answered over both.
                browsers[type] = try connection.browseRecords(
                    RecordKey(name, type), on: Int32(interface.index), over: nil
                ) { [weak self] in self?.received($0, type) }
            } catch {
                round.ended(type)
            }
        }
        timer.deadline = round.nextEnd ?? (left.isEmpty ? .now : .now + LookRound.limit)
    }

    /// Sets the timer, which ends lookups and the look: they are freed there, outside their callbacks.
    private func received(_ event: BrowserEvent, _ type: RecordType) {
        guard phase == .looking, browsers[type] != nil else { return }
        switch event {
        case .appeared(let data, let path):
            if path.isOnLink { round.appeared(data, type, isOwn: path.isLocal, at: .now) }
        case .cacheExhausted: round.cacheExhausted(type, at: .now)
        // That Avahi has asked for a second says nothing of records that a lost packet asked for.
        case .disappeared, .allForNow: return
        case .failed: round.ended(type)
        }
        timer.deadline = round.nextEnd ?? .now
    }

    private func timerFired() {
        for type in round.endLookups(at: .now) { browsers.removeValue(forKey: type)?.free() }
        if let next = round.nextEnd { return timer.deadline = next }
        let found = subject == .service ? answer : round.found
        left.subtract(found.keys)
        var news = found.compactMap { took($0.key, $0.value) ? $0.key : nil }
        if rounds < mostRounds, connection.isOpen {
            begin()
        } else {
            freeLookups()
            news += left.filter { took($0, [:]) }
            settle()
        }
        if !news.isEmpty { changed(news.map { RecordKey(name, $0) }) }
    }

    /// How often to look for what is missing.
    private var mostRounds: Int {
        switch subject {
        case .service: left.isEmpty ? 0 : Self.allRounds * (isUrgent ? 1 : max(families().count, 1))
        // A host with addresses of one family needs no others.
        case .host where left != types: 0
        case .host: isSilent ? Self.firstRounds : Self.allRounds
        }
    }

    /// Takes in what was found of a type.
    /// - Returns: whether it is something else than before.
    private func took(_ type: RecordType, _ found: [RecordData: Bool]) -> Bool {
        let old = records[type]
        let now = Duration.microseconds(MonotonicTime.now.microseconds)
        let new = found.map { data, isOwn in
            KnownRecord(
                data, isOwn: isOwn || interface.isLoopback, received: now,
                firstReceived: old?.first { $0.data == data }?.firstReceived ?? now)
        }
        records[type] = new
        if !new.isEmpty { lost.remove(type) } else if subject == .host, old?.isEmpty == false { lost.insert(type) }
        let isSame =
            old?.count == new.count
            && new.allSatisfy { one in old?.contains { $0.data == one.data && $0.isOwn == one.isOwn } == true }
        if !isSame { looks = 0 }
        return !isSame
    }

    /// Sleeps until the next look.
    private func settle() {
        phase = .sleeping
        timer.fire = { [weak self] in
            self?.phase = .waiting
            self?.submit()
        }
        if types.contains(where: { records[$0] == nil }) {
            timer.deadline = .now
        } else if !isSilent {
            retryDelay = .seconds(1)
            timer.set(after: lines.delay(afterLooks: looks))
        } else {
            timer.set(after: retryDelay)
            retryDelay = min(retryDelay * 2, .seconds(60))
        }
        looks += 1
        lines.finished(subject)
    }

    private func freeLookups() {
        timer.deadline = nil
        for lookup in resolvers + browsers.values { lookup.free() }
        (resolvers, browsers) = ([], [:])
    }
}
