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
    private static let repairInterval = Duration.seconds(5)
    /// What is watched is looked at this often at least, so that a machine that slept notices.
    private static let longestSleep = Duration.seconds(30)
    /// More than a clock can drift within one sleep.
    private static let suspended = Duration.seconds(2)

    let loop: EventLoop
    let troubles = Locked<[String]>([])
    private let wantsTTL255: Bool
    /// What this machine sends is its own: it passes nothing on for others.
    private let marksOwn: Bool
    private let monitor: LinkMonitor
    private let timer: LoopTimer
    private let buffer = ReceiveBuffer()
    private var packets = PacketQueue()
    private var links: [NetworkInterface: Link] = [:]
    private var operations: [UInt64: any QuerierOperation] = [:]
    /// The same in the order in which they started: that of their reports.
    private var inOrder: [any QuerierOperation] = []
    /// How much longer the machine has been up than it has run.
    private var slept = Duration.zero
    /// Why links are left out.
    private var refusals: [NetworkInterface: String] = [:]
    private var opensAgain: Duration?

    init(loop: EventLoop, wantsTTL255: Bool, marksOwn: Bool) {
        self.loop = loop
        self.marksOwn = marksOwn
        self.wantsTTL255 = wantsTTL255
        monitor = LinkMonitor(loop: loop)
        timer = LoopTimer(loop: loop)
        timer.fire = { [weak self] in self?.turn() }
    }

    var openObjects: Int { operations.count + links.values.reduce(0) { $0 + $1.sockets.count } }

    // MARK: Operations

    func start(_ operation: any QuerierOperation, id: UInt64) {
        let now = BootTime.now
        if operations.isEmpty { slept = Self.timeAsleep() }
        operations[id] = operation
        inOrder.append(operation)
        operation.begin(at: now)
        monitor.listen(self) { [weak self] in self?.linksChanged() }
        reviewLinks(at: now)
        for link in links.values where Self.wants(operation, link) { operation.linkCame(link, at: now) }
        operation.linksAreKnown(at: now)
        turn()
    }

    func end(id: UInt64) {
        guard let operation = operations.removeValue(forKey: id) else { return }
        inOrder.removeAll { $0 === operation }
        operation.end()
        reviewLinks(at: BootTime.now)
        if operations.isEmpty {
            monitor.leave(self)
            timer.deadline = nil
        }
    }

    func endAll() {
        for id in operations.keys.sorted() { end(id: id) }
        monitor.free()
        timer.free()
    }

    // MARK: Links

    private static func wants(_ operation: any QuerierOperation, _ link: Link) -> Bool {
        operation.interfaces.allows(link.interface.name) && !operation.families.isDisjoint(with: link.families)
    }

    private func linksChanged() {
        let now = BootTime.now
        reviewLinks(at: now)
        // What was refused for want of an address may go out now.
        for link in links.values where link.isRefused { link.querier.restart(at: now) }
        turn()
    }

    private func reviewLinks(at now: Duration) {
        let usable = LinkSelection(
            SystemInterfaces.usable(by: .all), operations.values.map { ($0.interfaces, $0.families) }
        ).links
        for link in links.values where usable[link.interface] == nil { drop(link, at: now) }
        for (interface, families) in usable.sorted(by: { $0.key < $1.key }) {
            let isNew = links[interface] == nil
            let link = links[interface] ?? Link(interface)
            do throws(SocketError) {
                let hasNewSockets = try link.open(families, wantsTTL255: wantsTTL255, loop: loop) { [weak self] in
                    self?.turn()
                }
                if hasNewSockets, !isNew { link.querier.restart(at: now) }
            } catch {
                refused(interface, error, at: now)
                if !isNew { drop(link, at: now) }
                continue
            }
            links[interface] = link
            note(nil, of: interface)
            // A link may have come, or one of its families, for those who ask over no other.
            for operation in inOrder {
                if Self.wants(operation, link) {
                    operation.linkCame(link, at: now)
                } else {
                    operation.linkWent(link, at: now)
                }
            }
        }
        for interface in refusals.keys where usable[interface] == nil { note(nil, of: interface) }
    }

    private func drop(_ link: Link, at now: Duration) {
        links[link.interface] = nil
        link.close()
        noticeFull(link, false)
        for operation in inOrder { operation.linkWent(link, at: now) }
    }

    private func refused(_ interface: NetworkInterface, _ error: SocketError, at now: Duration) {
        opensAgain = now + Self.repairInterval
        // It went in this moment.
        if !error.isOfMissingLink { note(error.message, of: interface) }
    }

    /// Says why a link is left out, or no longer.
    private func note(_ reason: String?, of interface: NetworkInterface) {
        guard refusals[interface] != reason else { return }
        if let old = refusals[interface] { troubles.withLock { $0.removeAll { $0 == Self.text(old, interface) } } }
        refusals[interface] = reason
        guard let reason else { return }
        let text = Self.text(reason, interface)
        troubles.withLock { $0.append(text) }
        for operation in inOrder where operation.interfaces.allows(interface.name) { operation.degraded(text) }
    }

    private static func text(_ reason: String, _ interface: NetworkInterface) -> String {
        "\(interface.name) cannot be asked: \(reason)"
    }

    // MARK: A turn

    private func turn() {
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
        if packets.isEmpty { setTimer(at: then) } else { timer.set(after: .zero) }
    }

    private func send(on link: Link, at now: Duration) {
        let families = inOrder.reduce(into: Set<IPAddress.Family>()) { wanted, operation in
            if Self.wants(operation, link) { wanted.formUnion(operation.families) }
        }
        link.send(over: families, at: now)
        // An address that is still tentative will do in a moment; then the link has changed.
        note(
            link.refusal.flatMap { $0 == EADDRNOTAVAIL ? nil : "questions are not sent: \(SystemError.text($0))" },
            of: link.interface)
        // Someone else may have asked in our place.
        for operation in inOrder { operation.asked(on: link, at: now) }
    }

    private func look(at packets: [PacketQueue.Packet]) {
        let now = BootTime.now
        for packet in packets where links[packet.link.interface] === packet.link {
            guard let message = try? Message(reading: packet.bytes) else { continue }
            let isOwn = packet.isOwn && marksOwn
            spread(packet.link.received(message, isOwn: isOwn, at: now), on: packet.link, at: now)
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

    private func noticeFull(_ link: Link, _ isFull: Bool) {
        guard isFull != link.isFull else { return }
        link.isFull = isFull
        let text = "results may be incomplete: more records are announced on \(link.interface.name) than are kept"
        if isFull {
            troubles.withLock { $0.append(text) }
            for operation in inOrder { operation.degraded(text) }
        } else {
            troubles.withLock { $0.removeAll { $0 == text } }
        }
    }

    /// What was known before the machine slept is asked for again before it is believed (RFC 6762 §10.4).
    private func noticeSuspend(at now: Duration) {
        let asleep = Self.timeAsleep()
        defer { slept = asleep }
        guard asleep - slept > Self.suspended else { return }
        for link in links.values { link.querier.awoke(at: now) }
    }

    private static func timeAsleep() -> Duration {
        BootTime.now - .microseconds(MonotonicTime.now.microseconds)
    }

    private func setTimer(at now: Duration) {
        let deadlines =
            links.values.compactMap { $0.querier.deadline(at: now) } + inOrder.compactMap(\.deadline)
            + [opensAgain, links.isEmpty ? nil : now + Self.longestSleep].compactMap(\.self)
        guard let next = deadlines.min() else { return timer.deadline = nil }
        timer.set(after: max(next - now, .zero))
    }
}

extension SocketError {
    /// For people.
    var message: String {
        isPortTaken
            ? "UDP port 5353 belongs to a program that does not share it"
            : SystemError.text(code)
    }
}
