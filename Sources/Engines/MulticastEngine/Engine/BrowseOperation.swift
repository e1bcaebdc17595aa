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
    private var parts: [NetworkInterface: Part] = [:]
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

    var deadline: Duration? {
        (parts.values.compactMap { $0.browse.deadline } + (stage == .listed ? [] : [listDeadline])).min()
    }

    func begin(at now: Duration) {
        began = now
        facts.append(.backend(.up))
    }

    func linkCame(_ link: Link, at now: Duration) {
        guard parts[link.interface] == nil, var browse = make(link.interface) else { return }
        let timesAsked = link.querier.timesAsked(browse.key)
        let settling = Settling(timesAsked: link.timesAsked(browse.key, over: wish.family, at: now), at: now)
        read(link) {
            browse.keep(atMost: limit, &$0, at: now)
            browse.begin(&$0, at: now)
        }
        facts += browse.takeFacts()
        parts[link.interface] = Part(
            link: link, browse: browse, settling: settling, timesAsked: timesAsked)
        settle(at: now)
    }

    func linkWent(_ link: Link, at now: Duration) {
        guard parts[link.interface]?.link === link, var part = parts.removeValue(forKey: link.interface) else { return }
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
        let interface = link.interface
        guard parts[interface]?.link === link else { return }
        if stage != .listed, let key = answeredKey(in: changes, on: link) {
            parts[interface]?.settling.answered(at: now)
            if parts[interface]?.settling.wantsQuestion == true { link.querier.askSoon(key, at: now) }
        }
        read(link) { parts[interface]?.browse.changed(changes, &$0, at: now) }
        took(parts[interface]?.browse.takeFacts() ?? [], on: interface, at: now)
    }

    /// The key of a link's list, if a responder answers it with one of these changes. A function of its own: a browse that
    /// somebody else holds, too, is copied whole at its next change.
    private func answeredKey(in changes: [RecordCache.Change], on link: Link) -> RecordKey? {
        guard let browse = parts[link.interface]?.browse else { return nil }
        let key = browse.key
        return changes.contains { $0.key == key && $0.arrival.map { browse.isOfResponder($0, link.querier) } ?? false }
            ? key : nil
    }

    func asked(on link: Link, at now: Duration) {
        guard let part = parts[link.interface], part.link === link else { return }
        let timesAsked = link.querier.timesAsked(part.browse.key)
        if link.querier.isSending, part.timesAsked > 0 { parts[link.interface]?.settling.isAsking(at: now) }
        if stage != .listed {
            parts[link.interface]?.settling.othersKnowMore(link.querier.isBehind(part.browse.key))
        }
        guard timesAsked > part.timesAsked else { return }
        parts[link.interface]?.timesAsked = timesAsked
        parts[link.interface]?.settling.asked(isTruncated: link.wasTruncated, at: now)
        if stage != .listed, parts[link.interface]?.settling.wantsQuestion == true {
            link.querier.askSoon(part.browse.key, at: now)
        }
    }

    func lost(on link: Link, asksAgain: Bool, at now: Duration) {
        guard parts[link.interface]?.link === link else { return }
        parts[link.interface]?.settling.lost()
        if asksAgain { parts[link.interface]?.browse.lost(at: now) }
    }

    func isBehind(at now: Duration) {
        if stage != .listed { for interface in Array(parts.keys) { parts[interface]?.settling.isBehind(at: now) } }
    }

    func wasLate(by delay: Duration) {
        if stage != .listed { for interface in Array(parts.keys) { parts[interface]?.settling.wasLate(by: delay) } }
    }

    func degraded(_ text: String) { facts.append(.degraded(text)) }

    func advance(to now: Duration) {
        // Not over the parts themselves: a second reference would copy each browse that changes.
        for interface in Array(parts.keys) {
            guard let link = parts[interface]?.link, let due = parts[interface]?.browse.deadline, due <= now else {
                continue
            }
            read(link) { parts[interface]?.browse.advance(to: now, &$0) }
            took(parts[interface]?.browse.takeFacts() ?? [], on: interface, at: now)
        }
        settle(at: now)
    }

    var wanted: [Int] { parts.values.map(\.browse.wanted) }

    func keep(atMost limit: Int, at now: Duration) {
        self.limit = limit
        for interface in Array(parts.keys) {
            guard let link = parts[interface]?.link else { continue }
            read(link) { parts[interface]?.browse.keep(atMost: limit, &$0, at: now) }
            facts += parts[interface]?.browse.takeFacts() ?? []
        }
    }

    func flush() {
        guard !facts.isEmpty else { return }
        let batch = facts
        facts = []
        report(batch)
    }

    func end() {
        // Each is taken out first: a second reference would copy the browse. A link that is closed is forgotten, with what is asked on it.
        for interface in Array(parts.keys) {
            guard var part = parts.removeValue(forKey: interface), part.link.isOpen else { continue }
            read(part.link) { part.browse.end(&$0) }
        }
        facts = []
    }

    /// Sees a link over the families wanted.
    private func read(_ link: Link, _ body: (inout LinkQuerier) -> Void) {
        link.querier.read(as: reader, over: wish.family, body)
    }

    // MARK: The first list

    private func took(_ news: [Browse.Fact], on interface: NetworkInterface, at now: Duration) {
        guard !news.isEmpty else { return }
        facts += news
        parts[interface]?.settling.news(at: now)
        settle(at: now)
    }

    private var isForOne: Bool { parts.values.contains { $0.browse.isForOne } }

    private var listDeadline: Duration {
        guard isForOne else { return parts.values.map(\.settling.deadline).max() ?? began }
        return answered.map { $0 + Self.grace } ?? began + Self.patience
    }

    private func settle(at now: Duration) {
        guard stage == .listening else { return }
        for (interface, part) in parts {
            let (key, link) = (part.browse.key, part.link)
            parts[interface]?.settling.othersKnowMore(link.querier.isBehind(key))
            parts[interface]?.settling.judge(link.querier.verdict(on: key, over: wish.family, at: now), at: now)
        }
        if isForOne {
            if answered == nil, parts.values.contains(where: { $0.browse.hasAnswer }) { answered = now }
            guard now >= listDeadline || parts.values.allSatisfy({ $0.browse.hasAnswer }) else { return }
        } else {
            guard parts.values.allSatisfy({ $0.settling.isSettled(at: now) }) else { return }
            for (interface, part) in parts where !part.settling.isHeardOut(at: now) {
                degraded(
                    "results may be incomplete: not all was heard on \(interface.name) in the time for the first list")
            }
        }
        stage = .listed
        facts.append(.listed)
    }
}
