import DNSMessage
import DNSSD
import Discovery
import DiscoverySystem
import Libc

/// The engine's links and operations, and the traffic between them. Used only on the loop's thread.
///
/// The rules are in values: `RecordCache`, `QuestionSchedule`, `Settling` and `ServiceGraph`.
final class QuerierCore {
    /// The number of packets processed before more are read: the kernel's queue is short.
    private static let packetsAtOnce = 16
    /// The longest time spent on packets in one turn, so that timers, questions and callers get theirs.
    private static let lookingTime = Duration.milliseconds(20)
    /// How long everything else waits for packets that have come: what is in them ends waits, and makes questions needless. Who sends more than
    /// can be read holds nothing up for longer.
    private static let backlog = Duration.milliseconds(250)
    /// The delay before a link that failed to open is tried again, and the shortest interval between restarts of a link
    /// that loses packets.
    static let repairInterval = Duration.seconds(5)
    /// The longest interval between looks at what is watched. The timer goes on during sleep, so a sleep longer than
    /// this is noticed on waking, and a shorter one at most this much later.
    private static let longestSleep = Duration.seconds(30)
    /// The difference between the clocks from which the machine counts as having slept; drift alone is smaller.
    private static let suspended = Duration.seconds(2)

    let loop: EventLoop
    let troubles = Locked<[String]>([])
    let settings: ResponderSettings
    private let monitor: LinkMonitor
    private let timer: BootTimer
    private let buffer = ReceiveBuffer()
    private var packets = PacketQueue()
    /// Since when packets have waited, and nothing else was done.
    private var behindSince: Duration?
    var links: [NetworkInterface: Link] = [:]
    private(set) var operations = OperationTable()
    /// Answers requests for records, where somebody wants that.
    var desk: (id: UInt64, operation: DeskOperation)?
    /// When the room was last shared out, and what each query may have of it on each link.
    var sharedOut: Duration?
    var servicesShare = Int.max
    /// The links that operations want, with the number of operations.
    var wishes: [LinkWish: Int] = [:]
    /// The links that these mean, as last looked at.
    var selection = LinkSelection([], [LinkWish]())
    /// The system's interfaces, as last read.
    var system: SystemLinks?
    /// How long the machine has slept: uptime less running time.
    private var slept: Duration
    /// When `slept` was last checked.
    private var lookedAt = Duration.zero
    /// When the next turn is due at the latest.
    private var isDue: Duration?
    var linkTroubles = LinkTroubles()
    var opensAgain: Duration?
    /// The interfaces that were there when one was last looked at, even if nobody has asked since.
    var lastSystem: SystemLinks?
    private(set) var unrest = Unrest(at: BootTime.now)

    /// Nil if no descriptor is left.
    init?(loop: EventLoop, _ settings: ResponderSettings) {
        (self.loop, self.settings, slept) = (loop, settings, BootTime.asleep)
        monitor = LinkMonitor(loop: loop)
        guard let timer = BootTimer(loop: loop) else { return nil }
        self.timer = timer
        timer.fire = { [weak self] in self?.turn() }
    }

    var openObjects: Int {
        operations.count + links.values.reduce(0) { $0 + $1.sockets.count + $1.querier.questionCount }
    }

    // MARK: Operations

    func start(_ operation: any QuerierOperation, id: UInt64) {
        let now = BootTime.now
        if operations.isEmpty {
            if BootTime.asleep - slept > Self.suspended { othersMayAsk(at: now) }
            (slept, lookedAt) = (BootTime.asleep, now)
        }
        operation.begin(at: now)
        monitor.listen(self) { [weak self] in self?.linksChanged() }
        let wish = operation.wish
        wishes[wish, default: 0] += 1
        if wishes[wish] == 1 || system?.isOld(at: now) ?? true { reviewLinks(at: now) }
        // From here on it is told what changes; now it is told what is.
        operations.add(operation, id: id)
        operation.keep(atMost: servicesShare, at: now)
        for link in links.values where selection.wants(wish, link.key) { operation.linkCame(link, at: now) }
        for text in linkTroubles.texts(where: { selection.wants(wish, $0) }) { operation.degraded(text) }
        for link in links.values where link.isFull && selection.wants(wish, link.key) {
            operation.degraded(link.fullText)
        }
        operation.linksAreKnown(at: now)
        turn()
    }

    func end(id: UInt64) {
        guard let operation = operations.remove(id: id) else { return }
        let wish = operation.wish
        if let count = wishes[wish], count > 1 {
            wishes[wish] = count - 1
        } else {
            wishes[wish] = nil
            reviewLinks(at: BootTime.now)
        }
        operation.end()
        if operations.isEmpty {
            monitor.leave(self)
            system = nil
            isDue = nil
            timer.set(nil)
        }
    }

    /// Whether packets from this machine are its own: no reflector repeats others' packets.
    private var marksOwn: Bool { !settings.reflects }

    /// Whether another host said a moment ago on one of these links that it has a service. Where a reflector runs on this machine, no one can
    /// tell.
    func isOthers(_ service: DomainName, own: DomainName?, on interfaces: InterfaceFilter) -> Bool {
        marksOwn
            && links.contains { interface, link in
                interfaces.allows(interface.name) && link.querier.cache.isOthers(service, own: own, at: BootTime.now)
            }
    }

    /// A service could not be reached.
    func reconfirm(_ service: DomainName) {
        let now = BootTime.now
        for link in links.values { link.querier.reconfirm(service, at: now) }
        turn()
    }

    /// An operation has work since somebody called it.
    func touched(_ operation: any QuerierOperation) {
        operations.touch(operation)
        turn()
    }

    func endAll() {
        desk = nil
        for id in operations.ids { end(id: id) }
        monitor.free()
        timer.free()
    }

    /// Does something to every operation that uses a link over one of these families.
    func tell(_ key: LinkKey? = nil, _ body: (any QuerierOperation) -> Void) {
        for operation in operations.inOrder where key.map({ selection.wants(operation.wish, $0) }) ?? true {
            body(operation)
            operations.touch(operation)
        }
    }

    // MARK: A turn

    func turn() {
        let now = BootTime.now
        if operations.isEmpty { return }
        noticeSuspend(at: now)
        if let isDue, now - isDue >= Settling.busy { tell { $0.wasLate(by: now - isDue) } }
        for link in links.values { link.read(into: &packets, buffer) }
        while !packets.isEmpty, BootTime.now - now < Self.lookingTime {
            look(at: packets.removeFirst(Self.packetsAtOnce))
            for link in links.values { link.read(into: &packets, buffer) }
        }
        let then = BootTime.now
        if let opensAgain, opensAgain <= then {
            self.opensAgain = nil
            system = nil
            reviewLinks(at: then)
        }
        for link in links.values {
            if link.hasLost() { lost(on: link, at: then) }
            noticeFull(link, link.querier.cache.isFull)
        }
        if !packets.isEmpty { tell { $0.isBehind(at: then) } }
        if hasTime(at: then) {
            for link in links.values { spread(link.querier.advance(to: then), on: link, at: then) }
            for operation in operations.takeDue(at: then) { operation.advance(to: then) }
            for link in links.values { send(on: link, at: then) }
        }
        shareOut(at: then)
        flush()
        // What is due already waits for nothing but this program: its turn is now, and not late.
        isDue = packets.isEmpty ? nextDeadline(at: then).map { max($0, then) } : then
        timer.set(isDue)
    }

    /// Whether to do what time asks for.
    private func hasTime(at now: Duration) -> Bool {
        guard !packets.isEmpty, now - (behindSince ?? now) < Self.backlog else {
            behindSince = nil
            return true
        }
        behindSince = behindSince ?? now
        return false
    }

    private func send(on link: Link, at now: Duration) {
        let isUnasked = link.send(at: now)
        note(
            link.delivery.trouble.map { "questions are not sent: \(SystemError.text($0))" },
            .sending, of: LinkKey(interface: link.interface))
        // Questions that were not sent count as not asked. A link that lacks an address restarts when it gets one.
        if isUnasked, link.delivery.refusal != EADDRNOTAVAIL { link.querier.restart(at: now) }
        if link.takeAsked() { tell { $0.asked(on: link, at: now) } }
    }

    private func flush() { for operation in operations.takeTouched() { operation.flush() } }

    private func look(at packets: [PacketQueue.Packet]) {
        let now = BootTime.now
        for packet in packets where links[packet.link.interface] === packet.link && !packet.link.isEcho(packet) {
            guard let heard = HeardMessage(packet.bytes) else { continue }
            let changes = packet.link.received(heard.message, as: packet, marksOwn: marksOwn, at: now)
            spread(changes, on: packet.link, at: now)
        }
        flush()
    }

    func spread(_ changes: [RecordCache.Change], on link: Link, at now: Duration) {
        guard !changes.isEmpty else { return }
        for (reader, changes) in link.querier.followers.concerned(by: changes) {
            guard let operation = operations[reader] else { continue }
            operation.changed(changes, on: link, at: now)
            operations.touch(operation)
        }
    }

    /// Asks again soon after a loss, but not too often on a lossy link.
    private func lost(on link: Link, at now: Duration) {
        let asksAgain = link.hastened.map { now - $0 >= Self.repairInterval } ?? true
        tell { $0.lost(on: link, asksAgain: asksAgain, at: now) }
        guard asksAgain else { return }
        link.hastened = now
        link.querier.restart(at: now)
    }

    func noticeFull(_ link: Link, _ isFull: Bool) {
        guard isFull != link.isFull else { return }
        link.isFull = isFull
        if isFull { tell(link.key) { $0.degraded(link.fullText) } }
        noteTroubles()
    }

    /// If the machine slept or this process was stopped, asks for known records before relying on them (RFC 6762
    /// §10.4).
    private func noticeSuspend(at now: Duration) {
        let asleep = BootTime.asleep
        defer { (slept, lookedAt) = (asleep, now) }
        let wasStopped = !links.isEmpty && now - lookedAt > Self.longestSleep + Self.suspended
        guard wasStopped || asleep - slept > Self.suspended else { return }
        othersMayAsk(at: now)
        for link in links.values { link.querier.awoke(at: now) }
    }

    func isOfCommand() { unrest = .ofCommand }

    /// Something has happened that other hosts share.
    func othersMayAsk(at now: Duration) {
        unrest.begins(at: now)
        for link in links.values { link.querier.waits(until: unrest.end) }
    }

    private func nextDeadline(at now: Duration) -> Duration? {
        let deadlines =
            links.values.compactMap { $0.querier.deadline(at: now) }
            + [operations.deadline, opensAgain, links.isEmpty ? nil : now + Self.longestSleep].compactMap(\.self)
        return deadlines.min()
    }
}

// One budget for all that the network makes this process keep: who keeps little is not concerned, the others have equal shares.
extension QuerierCore {
    /// The bytes of records, on all links together.
    private static let bytes = RecordCache.Limits().bytes
    /// The services of all queries, on all links together. Each is a service of a query, too, of its answers and its subscribers.
    private static let services = 32_768
    /// The shortest interval between two looks.
    private static let interval = Duration.milliseconds(100)

    func shareOut(at now: Duration) {
        guard sharedOut.map({ now - $0 >= Self.interval }) ?? true else { return }
        sharedOut = now
        let bytes = min(Crowd.share(of: links.values.map(\.querier.cache.wanted), in: Self.bytes), Self.bytes)
        for link in links.values where link.querier.cache.limits.bytes != bytes {
            spread(link.querier.keep(atMost: bytes, at: now), on: link, at: now)
        }
        let services = Crowd.share(of: operations.inOrder.flatMap(\.wanted), in: Self.services)
        guard services != servicesShare else { return }
        servicesShare = services
        tell { $0.keep(atMost: services, at: now) }
    }
}
