import DNSMessage
import DNSSD
import Discovery
import System

/// The engine's links and operations, and what goes between them. Touched by the loop's thread only.
///
/// It decides nothing: rules are the values' (`RecordCache`, `QuestionSchedule`, `Settling`, `ServiceBrowse`).
final class QuerierCore {
    /// Packets that are looked at before what has come meanwhile is read: the kernel's queue is short.
    private static let packetsAtOnce = 16
    /// What is watched is looked at this often at least, so that a machine that slept notices.
    private static let longestSleep = Duration.seconds(30)
    /// More than a clock can drift within one sleep.
    private static let suspended = Duration.seconds(2)

    let loop: EventLoop
    let troubles = Locked<[String]>([])
    private let wantsTTL255: Bool
    private let monitor: LinkMonitor
    private let timer: LoopTimer
    private let buffer = ReceiveBuffer()
    private var packets = PacketQueue()
    private var links: [NetworkInterface: Link] = [:]
    private var operations: [UInt64: any QuerierOperation] = [:]
    /// How much longer the machine has been up than it has run.
    private var slept = Duration.zero
    private var portError: SocketError?

    init(loop: EventLoop, wantsTTL255: Bool) {
        self.loop = loop
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
        operation.begin(at: now)
        monitor.listen(self) { [weak self] in self?.linksChanged() }
        reviewLinks(at: now)
        for link in links.values where Self.wants(operation, link) { operation.linkCame(link, at: now) }
        operation.linksAreKnown(at: now)
        turn()
    }

    func end(id: UInt64) {
        guard let operation = operations.removeValue(forKey: id) else { return }
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

    /// Reports come in the order in which operations started.
    private var inOrder: [any QuerierOperation] { operations.sorted { $0.key < $1.key }.map(\.value) }

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
                note(error)
                if !isNew { drop(link, at: now) }
                continue
            }
            links[interface] = link
            for operation in inOrder where isNew && Self.wants(operation, link) { operation.linkCame(link, at: now) }
        }
    }

    private func drop(_ link: Link, at now: Duration) {
        links[link.interface] = nil
        link.close()
        for operation in inOrder { operation.linkWent(link, at: now) }
    }

    private func note(_ error: SocketError) {
        guard portError == nil else { return }
        portError = error
        let text = "links are left out: \(error.message)"
        troubles.withLock { $0.append(text) }
        for operation in operations.values { operation.degraded(text) }
    }

    // MARK: A turn

    private func turn() {
        let now = BootTime.now
        if operations.isEmpty { return }
        noticeSuspend(at: now)
        for link in links.values { link.read(into: &packets, buffer) }
        while !packets.isEmpty {
            look(at: packets.removeFirst(Self.packetsAtOnce))
            for link in links.values { link.read(into: &packets, buffer) }
        }
        let then = BootTime.now
        for link in links.values {
            spread(link.querier.advance(to: then), on: link, at: then)
            noticeLosses(on: link)
        }
        let all = inOrder
        for operation in all where operation.deadline.map({ $0 <= then }) ?? false { operation.advance(to: then) }
        for link in links.values {
            let families = all.reduce(into: Set<IPAddress.Family>()) { wanted, operation in
                if Self.wants(operation, link) { wanted.formUnion(operation.families) }
            }
            if link.send(over: families, at: then) { for operation in all { operation.asked(on: link, at: then) } }
        }
        for operation in all { operation.flush() }
        setTimer(at: then)
    }

    private func look(at packets: [PacketQueue.Packet]) {
        let now = BootTime.now
        for packet in packets where links[packet.link.interface] === packet.link {
            guard let message = try? Message(reading: packet.bytes) else { continue }
            spread(packet.link.received(message, isOwn: packet.isOwn, at: now), on: packet.link, at: now)
        }
        for operation in inOrder { operation.flush() }
    }

    private func spread(_ changes: [RecordCache.Change], on link: Link, at now: Duration) {
        guard !changes.isEmpty else { return }
        for operation in inOrder { operation.changed(changes, on: link, at: now) }
    }

    private func noticeLosses(on link: Link) {
        if link.hasLost() { for operation in operations.values { operation.lost(on: link) } }
        guard link.querier.cache.isFull != link.isFull else { return }
        link.isFull.toggle()
        let text = "results may be incomplete: more records are announced on \(link.interface.name) than are kept"
        if link.isFull {
            troubles.withLock { $0.append(text) }
            for operation in operations.values { operation.degraded(text) }
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
            links.values.compactMap { $0.querier.deadline(at: now) } + operations.values.compactMap(\.deadline)
        let next = min(deadlines.min() ?? .seconds(1 << 40), now + Self.longestSleep)
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
