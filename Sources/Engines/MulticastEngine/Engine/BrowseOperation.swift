import DNSMessage
import DNSSD
import Discovery
import Records

/// Puts a question to every link that its query allows: a value per link, and one list for all.
final class BrowseOperation<Browse: LinkBrowse>: QuerierOperation {
    private struct Part {
        let link: Link
        var browse: Browse
        var settling: Settling
        var timesAsked: Int
    }

    /// How long other links may lag behind the first that answered, when resolving one name.
    private static var grace: Duration { .milliseconds(250) }
    /// How long to wait when resolving one name.
    private static var patience: Duration { .seconds(5) }

    private enum Stage {
        /// Not all links are there yet.
        case gathering
        case listening
        case listed
    }

    let wish: LinkWish
    private let make: (NetworkInterface) -> Browse?
    private let report: ([Browse.Fact]) -> Void
    /// One for each link. Changed in place: a second reference to a browse would have its next change copy it whole.
    private var parts: [Part] = []
    private var facts: [Browse.Fact] = []
    /// The most services on each link.
    private var limit = Int.max
    private var stage = Stage.gathering
    private var began = Duration.zero
    private var answered: Duration?

    /// - Parameter make: creates the question on a link; nil if it cannot be asked.
    init(
        interfaces: InterfaceFilter, family: IPAddress.Family?, make: @escaping (NetworkInterface) -> Browse?,
        report: @escaping ([Browse.Fact]) -> Void
    ) {
        wish = LinkWish(interfaces: interfaces, families: family.map { [$0] } ?? IPAddress.Family.both)
        (self.make, self.report) = (make, report)
    }

    private var reader: Followers.Reader { Followers.Reader(self) }

    private func place(of link: Link) -> Int? { parts.firstIndex { $0.link === link } }

    var deadline: Duration? {
        parts.indices.reduce(stage == .listed ? nil : listDeadline) { earlier($0, parts[$1].browse.deadline) }
    }

    func begin(at now: Duration) {
        began = now
        facts.append(.backend(.up))
    }

    func linkCame(_ link: Link, at now: Duration) {
        guard !parts.contains(where: { $0.link.interface == link.interface }), var browse = make(link.interface) else {
            return
        }
        let timesAsked = link.querier.timesAsked(browse.key)
        let settling = Settling(timesAsked: link.timesAsked(browse.key, over: wish.family, at: now), at: now)
        read(link) {
            browse.keep(atMost: limit, &$0, at: now)
            browse.begin(&$0, at: now)
        }
        facts += browse.takeFacts()
        parts.append(Part(link: link, browse: browse, settling: settling, timesAsked: timesAsked))
        settle(at: now)
    }

    func linkWent(_ link: Link, at now: Duration) {
        guard let place = place(of: link) else { return }
        var part = parts.remove(at: place)
        part.browse.hide()
        facts += part.browse.takeFacts()
        // The link may stay open for others.
        if link.isOpen { read(link) { part.browse.end(&$0) } }
        settle(at: now)
    }

    func linksAreKnown(at now: Duration) {
        if stage == .gathering { stage = .listening }
        settle(at: now)
    }

    func changed(_ changes: [RecordCache.Change], on link: Link, at now: Duration) {
        guard let place = place(of: link) else { return }
        if stage != .listed, isAnswered(place, by: changes) {
            parts[place].settling.answered(at: now)
            askSoonIfWanted(place, at: now)
        }
        read(link) { parts[place].browse.changed(changes, &$0, at: now) }
        took(parts[place].browse.takeFacts(), on: place, at: now)
    }

    /// Whether a responder answers a link's list with one of these changes.
    private func isAnswered(_ place: Int, by changes: [RecordCache.Change]) -> Bool {
        let key = parts[place].browse.key
        return changes.contains { change in
            change.key == key
                && change.arrival.map { parts[place].browse.isOfResponder($0, parts[place].link.querier) } ?? false
        }
    }

    private func askSoonIfWanted(_ place: Int, at now: Duration) {
        guard parts[place].settling.wantsQuestion else { return }
        parts[place].link.querier.askSoon(parts[place].browse.key, at: now)
    }

    func asked(on link: Link, at now: Duration) {
        guard let place = place(of: link) else { return }
        let key = parts[place].browse.key
        let timesAsked = link.querier.timesAsked(key)
        if link.querier.isSending, parts[place].timesAsked > 0 { parts[place].settling.isAsking(at: now) }
        if stage != .listed { parts[place].settling.othersKnowMore(link.querier.isBehind(key)) }
        guard timesAsked > parts[place].timesAsked else { return }
        parts[place].timesAsked = timesAsked
        parts[place].settling.asked(isTruncated: link.wasTruncated, at: now)
        if stage != .listed { askSoonIfWanted(place, at: now) }
    }

    func lost(on link: Link, asksAgain: Bool, at now: Duration) {
        guard let place = place(of: link) else { return }
        parts[place].settling.lost()
        if asksAgain { parts[place].browse.lost(at: now) }
    }

    func isBehind(at now: Duration) {
        if stage != .listed { for place in parts.indices { parts[place].settling.isBehind(at: now) } }
    }

    func wasLate(by delay: Duration) {
        if stage != .listed { for place in parts.indices { parts[place].settling.wasLate(by: delay) } }
    }

    func degraded(_ text: String) { facts.append(.degraded(text)) }

    func advance(to now: Duration) {
        for place in parts.indices {
            guard let due = parts[place].browse.deadline, due <= now else { continue }
            read(parts[place].link) { parts[place].browse.advance(to: now, &$0) }
            took(parts[place].browse.takeFacts(), on: place, at: now)
        }
        settle(at: now)
    }

    var wanted: [Int] { parts.map(\.browse.wanted) }

    func keep(atMost limit: Int, at now: Duration) {
        self.limit = limit
        for place in parts.indices {
            read(parts[place].link) { parts[place].browse.keep(atMost: limit, &$0, at: now) }
            facts += parts[place].browse.takeFacts()
        }
    }

    func flush() {
        guard !facts.isEmpty else { return }
        let batch = facts
        facts = []
        report(batch)
    }

    func end() {
        // A link that is closed is forgotten, with what is asked on it.
        for place in parts.indices where parts[place].link.isOpen {
            read(parts[place].link) { parts[place].browse.end(&$0) }
        }
        (parts, facts) = ([], [])
    }

    /// Sees a link over the families wanted.
    private func read(_ link: Link, _ body: (inout LinkQuerier) -> Void) {
        link.querier.read(as: reader, over: wish.family, body)
    }

    // MARK: The first list

    private func took(_ news: [Browse.Fact], on place: Int, at now: Duration) {
        guard !news.isEmpty else { return }
        facts += news
        parts[place].settling.news(at: now)
        settle(at: now)
    }

    private var isForOne: Bool { parts.indices.contains { parts[$0].browse.isForOne } }

    private var listDeadline: Duration {
        guard isForOne else { return parts.indices.reduce(began) { max($0, parts[$1].settling.deadline) } }
        return answered.map { $0 + Self.grace } ?? began + Self.patience
    }

    private func settle(at now: Duration) {
        guard stage == .listening else { return }
        for place in parts.indices {
            let (key, link) = (parts[place].browse.key, parts[place].link)
            parts[place].settling.othersKnowMore(link.querier.isBehind(key))
            parts[place].settling.judge(link.querier.verdict(on: key, over: wish.family, at: now), at: now)
        }
        if isForOne {
            let unanswered = parts.indices.count { !parts[$0].browse.hasAnswer }
            if answered == nil, unanswered < parts.count { answered = now }
            guard now >= listDeadline || unanswered == 0 else { return }
        } else {
            guard parts.indices.allSatisfy({ parts[$0].settling.isSettled(at: now) }) else { return }
            for place in parts.indices where !parts[place].settling.isHeardOut(at: now) {
                let name = parts[place].link.interface.name
                degraded("results may be incomplete: not all was heard on \(name) in the time for the first list")
            }
        }
        stage = .listed
        facts.append(.listed)
    }
}
