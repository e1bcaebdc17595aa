import DNSSD
import Discovery
import DiscoverySystem
import Libc

/// A snapshot of the interfaces that multicast DNS can use.
struct SystemLinks {
    let usable: [(interface: NetworkInterface, families: [IPAddress.Family])]
    /// This machine's addresses on each, and their blocks.
    let addresses: [NetworkInterface: [AddressBlock]]
    /// Those with a carrier.
    let running: Set<NetworkInterface>
    private let read: Duration

    init(at now: Duration) {
        read = now
        running = SystemInterfaces.running()
        usable = SystemInterfaces.usable(by: .all)
        addresses = Dictionary(grouping: AddressBlock.all(), by: \.interface)
    }

    /// Whether the system should be read again, because it may change without notice. Within a second it is read once,
    /// for thousands of operations that start together.
    func isOld(at now: Duration) -> Bool { now - read > .seconds(1) }

    /// Whether another has the same interfaces with the same addresses and carriers.
    func isLike(_ other: SystemLinks) -> Bool { addresses == other.addresses && running == other.running }
}

// Links come and go.
extension QuerierCore {
    func linksChanged() {
        let now = BootTime.now
        system = nil
        reviewLinks(at: now)
        // A packet that was refused for lack of an address can perhaps be sent now.
        for link in links.values where link.delivery != .sent { link.querier.restart(at: now) }
        turn()
    }

    func reviewLinks(at now: Duration) {
        let system = self.system.flatMap { $0.isOld(at: now) ? nil : $0 } ?? SystemLinks(at: now)
        self.system = system
        if lastSystem?.isLike(system) == false { othersMayAsk(at: now) }
        lastSystem = system
        selection = LinkSelection(system.usable, wishes.keys)
        let wanted = selection.links
        for link in links.values where wanted[link.interface] == nil { drop(link, at: now) }
        for (interface, wish) in wanted.sorted(by: { $0.key < $1.key }) {
            let isNew = links[interface] == nil
            let link = links[interface] ?? Link(interface)
            let isBack = link.carrier(isThere: system.running.contains(interface))
            let addresses = system.addresses[interface] ?? []
            link.querier.neighbours(addresses.map(\.block))
            link.querier.waits(until: unrest.end)
            link.ownAddresses = Set(addresses.map(\.address))
            do throws(SocketError) {
                let hasNewSockets = try link.open(wish, wantsTTL255: settings.checksTTL, loop: loop, at: now) {
                    [weak self] in
                    self?.turn()
                }
                if isBack {
                    // It may be another network, and what was said meanwhile nobody repeats.
                    link.querier.awoke(at: now)
                } else if hasNewSockets, !isNew {
                    link.querier.restart(at: now)
                }
            } catch {
                noteRefusals(of: link, wish.families, at: now)
                if !isNew { drop(link, at: now) }
                continue
            }
            links[interface] = link
            noteRefusals(of: link, wish.families, at: now)
            // Some may have lost their only family, or have another link in the place of loopback.
            tell { selection.wants($0.wish, link.key) ? $0.linkCame(link, at: now) : $0.linkWent(link, at: now) }
        }
        linkTroubles.keep(wanted.keys)
        noteTroubles()
    }

    private func drop(_ link: Link, at now: Duration) {
        links[link.interface] = nil
        link.close()
        note(nil, .sending, of: LinkKey(interface: link.interface))
        noticeFull(link, false)
        tell { $0.linkWent(link, at: now) }
    }

    private func noteRefusals(of link: Link, _ families: [IPAddress.Family], at now: Duration) {
        for family in families {
            let error = link.refused[family]
            if error != nil { opensAgain = now + Self.repairInterval }
            // The link has just gone.
            if let error, error.isOfMissingLink { continue }
            note(error?.message, .opening, of: LinkKey(interface: link.interface, families: [family]))
        }
    }

    /// Records why a link is not used; nil when it is again.
    func note(_ reason: String?, _ cause: LinkTroubles.Cause, of key: LinkKey) {
        let news = linkTroubles.note(reason, cause, of: key)
        guard news != .none else { return }
        noteTroubles()
        guard case .trouble(let text) = news else { return }
        tell(key) { $0.degraded(text) }
    }

    /// Publishes the reasons why answers are incomplete now, each once.
    func noteTroubles() {
        let texts = linkTroubles.texts.union(links.values.filter(\.isFull).map(\.fullText))
        troubles.withLock { $0 = texts.sorted() }
    }
}

extension Link {
    /// The trouble of a full cache, for people.
    var fullText: String {
        "results may be incomplete: more records are announced on \(interface.name) than are kept"
    }
}

extension SocketError {
    /// The reason for people.
    var message: String {
        isPortTaken
            ? "UDP port 5353 belongs to a program that does not share it"
            : SystemError.text(code)
    }
}

/// Why links are not used, or only in part. Each cause has its own reason, so that the end of one does not hide another.
struct LinkTroubles {
    enum Cause: Hashable {
        /// A socket cannot be had.
        case opening
        /// The system refuses packets.
        case sending
    }

    private var reasons: [LinkKey: [Cause: String]] = [:]

    enum News: Hashable {
        case none
        /// There is another reason; the text is for people.
        case trouble(String)
        /// The cause is over.
        case over
    }

    /// Records why a link is not used; nil when the cause is over.
    mutating func note(_ reason: String?, _ cause: Cause, of link: LinkKey) -> News {
        let text = reason.map { "\(link.interface.name) cannot be asked: \($0)" }
        guard reasons[link]?[cause] != text else { return .none }
        reasons[link, default: [:]][cause] = text
        if reasons[link]?.isEmpty == true { reasons[link] = nil }
        return text.map { .trouble($0) } ?? .over
    }

    /// Forgets the links that are not among these.
    mutating func keep(_ links: some Sequence<NetworkInterface>) {
        let kept = Set(links)
        reasons = reasons.filter { kept.contains($0.key.interface) }
    }

    /// The reasons that matter to who uses some links, each once.
    func texts(where isUsed: (LinkKey) -> Bool) -> [String] {
        Set(reasons.filter { isUsed($0.key) }.flatMap(\.value.values)).sorted()
    }

    /// All reasons, each once.
    var texts: Set<String> { Set(reasons.values.flatMap(\.values)) }
}
