import DNSMessage
import DNSSD
import Records

/// Answers requests for records from what the links say, and asks them once for what is not known. It keeps the links open: what is announced
/// is known. Used only on the loop's thread.
final class DeskOperation: QuerierOperation {
    /// The longest chain of aliases that is followed.
    private static let mostAliases = 4
    /// The most records of an answer: what a message has room for (RFC 1035 §4.2.2), about.
    private static let mostRecords = 1024

    let wish = LinkWish(interfaces: .all, families: IPAddress.Family.both)
    private var table = DeskTable<UInt64>()
    private var links: [NetworkInterface: Link] = [:]
    /// The keys that each open request has asked for.
    private var asking: [RecordRequest: Set<RecordKey>] = [:]
    private var answers: [(ticket: UInt64, answer: DeskAnswer)] = []
    private let report: ([(ticket: UInt64, answer: DeskAnswer)]) -> Void

    init(report: @escaping ([(ticket: UInt64, answer: DeskAnswer)]) -> Void) { self.report = report }

    // MARK: Requests

    /// - Returns: whether the links are to be asked.
    func ask(_ asked: [RecordDesk.Asked], at now: Duration) -> Bool {
        var asksLinks = false
        // Who asks the same often is looked up once.
        var read: [RecordRequest: Known] = [:]
        for item in asked {
            let known = read[item.request] ?? known(item.request, at: now)
            read[item.request] = known
            let step = table.ask(
                item.request, wanted: item.wanted, item.ticket, by: item.asker, known: known.types, at: now)
            switch step {
            case .answer: answers.append((item.ticket, known.answer))
            case .refuse: answers.append((item.ticket, .refused))
            case .wait: break
            case .ask:
                want(known.keys, for: item.request, at: now)
                asksLinks = true
            }
        }
        return asksLinks
    }

    // MARK: What is known

    private struct Known {
        var records: [DeskRecord] = []
        /// Types that are answered or denied.
        var types: Set<RecordType> = []
        var keys: Set<RecordKey> = []

        var answer: DeskAnswer { .records(records) }
    }

    private func known(_ request: RecordRequest, at now: Duration) -> Known {
        var known = Known()
        // A host on several links may have another family's addresses on each: one link's denial is none for the others.
        var denials: [RecordKey: Int] = [:]
        for (interface, link) in links.sorted(by: { $0.key < $1.key }) {
            let cache = link.querier.cache
            var name = request.name
            for _ in 0...Self.mostAliases {
                var isThere = false
                for type in request.types {
                    let key = RecordKey(name, type)
                    known.keys.insert(key)
                    // There may be thousands.
                    cache.look(key) { record in
                        guard !record.life.isEnding else { return false }
                        isThere = true
                        known.types.insert(type)
                        guard known.records.count < Self.mostRecords else { return true }
                        known.records.append(
                            DeskRecord(record.record(at: now), on: interface, isNear: cache.isOfNeighbour(record.data)))
                        return false
                    }
                    if cache.isDenied(key) { denials[key, default: 0] += 1 }
                }
                let alias = isThere ? nil : cache.records(RecordKey(name, .cname)).first { !$0.life.isEnding }
                // What a link says of other domains is not asked for on all links.
                guard let alias, case .cname(let target) = alias.data, target.isHostOfLink else { break }
                known.records.append(DeskRecord(alias.record(at: now), on: interface))
                name = target
            }
        }
        for (key, count) in denials where count == links.count { known.types.insert(key.type) }
        return known
    }

    private func want(_ keys: Set<RecordKey>, for request: RecordRequest, at now: Duration) {
        let new = keys.subtracting(asking[request] ?? [])
        guard !new.isEmpty || asking[request] == nil, (asking[request]?.count ?? 0) <= 2 * Self.mostAliases else {
            return
        }
        asking[request, default: []].formUnion(new)
        for link in links.values { want(new, on: link, at: now) }
    }

    private func want(_ keys: Set<RecordKey>, on link: Link, at now: Duration) {
        read(link) { querier in
            for key in keys {
                querier.follow(key.name)
                querier.want(key, .awaited(after: .zero), from: nil, at: now)
            }
        }
    }

    private func drop(_ keys: Set<RecordKey>, on link: Link) {
        read(link) { querier in
            for key in keys {
                querier.unfollow(key.name)
                querier.drop(key)
            }
        }
    }

    private func read(_ link: Link, _ body: (inout LinkQuerier) -> Void) {
        link.querier.read(as: Followers.Reader(self), over: nil, body)
    }

    private func finish(_ done: DeskTable<UInt64>.Done, _ known: Known) {
        for ticket in done.tickets { answers.append((ticket, known.answer)) }
        guard !table.isOpen(done.request), let keys = asking.removeValue(forKey: done.request) else { return }
        for link in links.values { drop(keys, on: link) }
    }

    // MARK: Events

    var deadline: Duration? { table.deadline }

    func begin(at now: Duration) {}

    func linkCame(_ link: Link, at now: Duration) {
        guard links[link.interface] !== link else { return }
        links[link.interface] = link
        for keys in asking.values { want(keys, on: link, at: now) }
    }

    func linkWent(_ link: Link, at now: Duration) {
        guard links[link.interface] === link else { return }
        links[link.interface] = nil
        for keys in asking.values { drop(keys, on: link) }
    }

    func linksAreKnown(at now: Duration) {}

    func changed(_ changes: [RecordCache.Change], on link: Link, at now: Duration) {
        let all = Set(changes.map(\.key.name))
        let aliases = Set(changes.filter { $0.key.type == .cname }.map(\.key.name))
        for (request, keys) in asking {
            // Of a list, which ends when its time is over, only an alias has more asked for.
            let names = request.holders == .one ? all : aliases
            guard keys.contains(where: { names.contains($0.name) }) else { continue }
            let known = known(request, at: now)
            // An alias has come: its host is asked for.
            want(known.keys, for: request, at: now)
            if let done = table.learned(known.types, of: request, at: now) { finish(done, known) }
        }
    }

    func advance(to now: Duration) {
        var read: [RecordRequest: Known] = [:]
        let due = table.takeDue(at: now) { request in
            let known = self.known(request, at: now)
            read[request] = known
            return known.types
        }
        for done in due { finish(done, read[done.request] ?? Known()) }
    }

    func flush() {
        guard !answers.isEmpty else { return }
        let batch = answers
        answers = []
        report(batch)
    }

    func end() {
        for link in links.values { for keys in asking.values { drop(keys, on: link) } }
        (links, asking, answers) = ([:], [:], [])
    }

    func asked(on link: Link, at now: Duration) {}
    func lost(on link: Link, asksAgain: Bool, at now: Duration) {}
    func isBehind(at now: Duration) {}
    func wasLate(by delay: Duration) {}
    func degraded(_ text: String) {}
    var wanted: [Int] { [] }
    func keep(atMost limit: Int, at now: Duration) {}
}
