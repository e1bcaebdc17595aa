import DNSSD
import Discovery
import DiscoverySystem
import Libc

/// A snapshot of the interfaces that multicast DNS can use.
struct SystemLinks {
    let usable: [(interface: NetworkInterface, families: [IPAddress.Family])]
    /// This machine's address blocks on each.
    let neighbours: [NetworkInterface: [CIDR]]
    /// Those with a carrier.
    let running: Set<NetworkInterface>
    private let read: Duration

    init(at now: Duration) {
        read = now
        running = SystemInterfaces.running()
        usable = SystemInterfaces.usable(by: .all)
        neighbours = AddressBlock.all().mapValues { $0.map(\.block) }
    }

    /// Whether the system should be read again, because it may change without notice. Within a second it is read once,
    /// for thousands of operations that start together.
    func isOld(at now: Duration) -> Bool { now - read > .seconds(1) }
}

// Links come and go.
extension QuerierCore {
    func linksChanged() {
        let now = BootTime.now
        system = nil
        reviewLinks(at: now)
        // A packet that was refused for lack of an address can perhaps be sent now.
        for link in links.values where link.isRefused { link.querier.restart(at: now) }
        turn()
    }

    func reviewLinks(at now: Duration) {
        let system = self.system.flatMap { $0.isOld(at: now) ? nil : $0 } ?? SystemLinks(at: now)
        self.system = system
        let wanted = LinkSelection(system.usable, wishes.keys).links
        for link in links.values where wanted[link.key] == nil { drop(link, at: now) }
        for (key, families) in wanted.sorted(by: { $0.key < $1.key }) {
            let isNew = links[key] == nil
            let link = links[key] ?? Link(key)
            let isBack = link.carrier(isThere: system.running.contains(key.interface))
            link.querier.neighbours(system.neighbours[key.interface] ?? [])
            do throws(SocketError) {
                let hasNewSockets = try link.open(families, wantsTTL255: wantsTTL255, loop: loop) { [weak self] in
                    self?.turn()
                }
                if isBack {
                    // It may be another network, and what was said meanwhile nobody repeats.
                    link.querier.awoke(at: now)
                } else if hasNewSockets, !isNew {
                    link.querier.restart(at: now)
                }
            } catch {
                refused(key, error, at: now)
                if !isNew { drop(link, at: now) }
                continue
            }
            links[key] = link
            if let error = link.refusedFamily { refused(key, error, at: now) } else { note(nil, .opening, of: key) }
            for operation in inOrder where operation.wish.wants(key) { operation.linkCame(link, at: now) }
        }
        linkTroubles.keep(wanted.keys)
        noteTroubles()
    }

    private func drop(_ link: Link, at now: Duration) {
        links[link.key] = nil
        link.close()
        note(nil, .sending, of: link.key)
        noticeFull(link, false)
        for operation in inOrder { operation.linkWent(link, at: now) }
    }

    private func refused(_ key: LinkKey, _ error: SocketError, at now: Duration) {
        opensAgain = now + Self.repairInterval
        // The link has just gone.
        if !error.isOfMissingLink { note(error.message, .opening, of: key) }
    }

    /// Records why a link is not used; nil when it is again.
    func note(_ reason: String?, _ cause: LinkTroubles.Cause, of key: LinkKey) {
        let news = linkTroubles.note(reason, cause, of: key)
        guard news != .none else { return }
        noteTroubles()
        guard case .trouble(let text) = news else { return }
        for operation in inOrder where operation.wish.wants(key) { operation.degraded(text) }
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
