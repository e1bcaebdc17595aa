import DNSMessage
import DNSSD
import Discovery
import Glibc
import System

/// The engine's links and operations, and what goes between them. Touched by the loop's thread only.
///
/// It decides nothing: rules are the values' (`RecordCache`, `QuestionSchedule`, `Settling`, `ServiceBrowse`).
final class QuerierCore {
    /// Packets that are looked at before what has come meanwhile is read: the kernel's queue is short.
    private static let packetsAtOnce = 16
    /// So long packets are looked at in one turn; then timers, questions and those who wait get theirs.
    private static let lookingTime = Duration.milliseconds(20)
    /// A link that could not be opened is tried again so much later, and one that loses packets is asked from the beginning so often at most.
    static let repairInterval = Duration.seconds(5)
    /// What is watched is looked at this often at least. The timer goes on while the machine sleeps: it notices as soon as it wakes when it slept
    /// for longer, and so much later at most when not.
    private static let longestSleep = Duration.seconds(30)
    /// More than a clock can drift within one sleep.
    private static let suspended = Duration.seconds(2)

    let loop: EventLoop
    let troubles = Locked<[String]>([])
    let wantsTTL255: Bool
    /// What this machine sends is its own: it passes nothing on for others.
    private let marksOwn: Bool
    private let monitor: LinkMonitor
    private let timer: BootTimer
    private let buffer = ReceiveBuffer()
    private var packets = PacketQueue()
    var links: [LinkKey: Link] = [:]
    private var operations: [UInt64: any QuerierOperation] = [:]
    /// The same in the order in which they started: that of their reports.
    private(set) var inOrder: [any QuerierOperation] = []
    /// What they ask of links, and how many of them ask it.
    var wishes: [LinkWish: Int] = [:]
    /// What the system has, as it was read last.
    var system: SystemLinks?
    /// How much longer the machine has been up than it has run.
    private var slept = Duration.zero
    /// When that was last seen.
    private var lookedAt = Duration.zero
    /// Why links are left out.
    var refusals: [LinkKey: String] = [:]
    var opensAgain: Duration?

    /// Nil when no descriptor is left.
    init?(loop: EventLoop, wantsTTL255: Bool, marksOwn: Bool) {
        self.loop = loop
        self.marksOwn = marksOwn
        self.wantsTTL255 = wantsTTL255
        monitor = LinkMonitor(loop: loop)
        guard let timer = BootTimer(loop: loop) else { return nil }
        self.timer = timer
        timer.fire = { [weak self] in self?.turn() }
    }

    var openObjects: Int { operations.count + links.values.reduce(0) { $0 + $1.sockets.count } }

    // MARK: Operations

    func start(_ operation: any QuerierOperation, id: UInt64) {
        let now = BootTime.now
        if operations.isEmpty { (slept, lookedAt) = (Self.timeAsleep(), now) }
        operations[id] = operation
        inOrder.append(operation)
        operation.begin(at: now)
        monitor.listen(self) { [weak self] in self?.linksChanged() }
        let wish = operation.wish
        wishes[wish, default: 0] += 1
        if wishes[wish] == 1 || system?.isOld(at: now) ?? true { reviewLinks(at: now) }
        for link in links.values where wish.wants(link.key) { operation.linkCame(link, at: now) }
        for text in refusals.filter({ wish.wants($0.key) }).values { operation.degraded(text) }
        for link in links.values where link.isFull && wish.wants(link.key) { operation.degraded(link.fullText) }
        operation.linksAreKnown(at: now)
        turn()
    }

    func end(id: UInt64) {
        guard let operation = operations.removeValue(forKey: id) else { return }
        inOrder.removeAll { $0 === operation }
        operation.end()
        let wish = operation.wish
        if let count = wishes[wish], count > 1 {
            wishes[wish] = count - 1
        } else {
            wishes[wish] = nil
            reviewLinks(at: BootTime.now)
        }
        if operations.isEmpty {
            monitor.leave(self)
            system = nil
            timer.set(nil)
        }
    }

    /// A service could not be reached.
    func reconfirm(_ service: DomainName) {
        let now = BootTime.now
        for link in links.values { link.querier.reconfirm(service, at: now) }
        turn()
    }

    func endAll() {
        for id in operations.keys.sorted() { end(id: id) }
        monitor.free()
        timer.free()
    }

    // MARK: A turn

    func turn() {
        let now = BootTime.now
        if operations.isEmpty { return }
        noticeSuspend(at: now)
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
            spread(link.querier.advance(to: then), on: link, at: then)
            if link.hasLost() { lost(on: link, at: then) }
            noticeFull(link, link.querier.cache.isFull)
        }
        for operation in inOrder where operation.deadline.map({ $0 <= then }) ?? false { operation.advance(to: then) }
        for link in links.values { send(on: link, at: then) }
        for operation in inOrder { operation.flush() }
        if packets.isEmpty { setTimer(at: then) } else { timer.set(.zero) }
    }

    private func send(on link: Link, at now: Duration) {
        link.send(at: now)
        // An address that is still tentative will do in a moment; then the link has changed.
        note(
            link.refusal.flatMap { $0 == EADDRNOTAVAIL ? nil : "questions are not sent: \(SystemError.text($0))" },
            of: link.key)
        // Someone else may have asked in our place.
        for operation in inOrder { operation.asked(on: link, at: now) }
    }

    private func look(at packets: [PacketQueue.Packet]) {
        let now = BootTime.now
        for packet in packets where links[packet.link.key] === packet.link {
            guard let message = try? Message(reading: packet.bytes) else { continue }
            let isOwn = packet.isOwn && (marksOwn || !message.flags.contains(.response))
            spread(packet.link.received(message, isOwn: isOwn, over: packet.family, at: now), on: packet.link, at: now)
        }
        for operation in inOrder { operation.flush() }
    }

    private func spread(_ changes: [RecordCache.Change], on link: Link, at now: Duration) {
        guard !changes.isEmpty else { return }
        for operation in inOrder { operation.changed(changes, on: link, at: now) }
    }

    /// What was lost is asked for again soon, but not again and again where packets are lost all the time.
    private func lost(on link: Link, at now: Duration) {
        for operation in inOrder { operation.lost(on: link) }
        guard link.hastened.map({ now - $0 >= Self.repairInterval }) ?? true else { return }
        link.hastened = now
        link.querier.restart(at: now)
    }

    func noticeFull(_ link: Link, _ isFull: Bool) {
        guard isFull != link.isFull else { return }
        link.isFull = isFull
        if isFull {
            for operation in inOrder where operation.wish.wants(link.key) { operation.degraded(link.fullText) }
        }
        noteTroubles()
    }

    /// What was known before the machine slept, or this process was stopped, is asked for again before it is believed (RFC 6762 §10.4).
    private func noticeSuspend(at now: Duration) {
        let asleep = Self.timeAsleep()
        defer { (slept, lookedAt) = (asleep, now) }
        let wasStopped = !links.isEmpty && now - lookedAt > Self.longestSleep + Self.suspended
        guard wasStopped || asleep - slept > Self.suspended else { return }
        for link in links.values { link.querier.awoke(at: now) }
    }

    private static func timeAsleep() -> Duration {
        BootTime.now - .microseconds(MonotonicTime.now.microseconds)
    }

    private func setTimer(at now: Duration) {
        let deadlines =
            links.values.compactMap { $0.querier.deadline(at: now) } + inOrder.compactMap(\.deadline)
            + [opensAgain, links.isEmpty ? nil : now + Self.longestSleep].compactMap(\.self)
        timer.set(deadlines.min())
    }
}
