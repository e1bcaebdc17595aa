import DNSSD
import Discovery
import System

/// Resolves one service on one interface: SRV and TXT by a resolver, then the addresses of the host, and again later while it watches.
/// Used only on the loop's thread.
final class ResolutionTask {
    /// What came of it; told anew when something changes, while it watches.
    enum Outcome {
        case resolved(Resolution, over: IPAddress.Family, isOwn: Bool)
        case failed
    }

    private enum Phase {
        /// Until its turn comes.
        case waiting
        case asking
        /// SRV and TXT are there.
        case looking
        /// Until it looks again.
        case sleeping
        case over
    }

    /// The longest that a resolver is open: less than the second that the shortest-lived record lives
    /// (docs/decisions/0014-nothing-is-held.md).
    private static let window = Duration.milliseconds(950)
    /// So many of them are the 5 s after which Avahi's own resolver gives up.
    private static let windows = 5
    /// For so many looks an address may have been lost that is still to come.
    private static let newLooks = 3

    /// It was asked for by name, nothing is known yet: over all families, at once, until it answers.
    let isUrgent: Bool
    private let instance: ServiceInstance
    private let interface: NetworkInterface
    private let watches: Bool
    private let addressFamily: IPAddress.Family?
    private let resolvesHost: Bool
    private let queue: ResolutionQueue
    private let report: (Outcome) -> Void
    private let timer: LoopTimer

    private var phase = Phase.waiting {
        didSet { queue.sleeping += (phase == .sleeping ? 1 : 0) - (oldValue == .sleeping ? 1 : 0) }
    }
    /// Over which it can be asked; first that which answered last.
    private var families: [IPAddress.Family] = []
    private var resolvers: [IPAddress.Family: AvahiLookup] = [:]
    private var windowsUsed = 0
    private var told: Resolution?
    /// How often the same was seen again.
    private var looks = 0
    private var retryDelay = Duration.seconds(1)

    /// - Parameter resolvesHost: without it there are no addresses, and an answer is told as soon as SRV and TXT are there.
    init(
        _ instance: ServiceInstance, on interface: NetworkInterface, isUrgent: Bool = false, watches: Bool,
        addressFamily: IPAddress.Family?, resolvesHost: Bool = true, queue: ResolutionQueue,
        report: @escaping (Outcome) -> Void
    ) {
        self.instance = instance
        self.interface = interface
        self.isUrgent = isUrgent
        self.watches = watches
        self.addressFamily = addressFamily
        self.resolvesHost = resolvesHost
        self.queue = queue
        self.report = report
        timer = LoopTimer(loop: queue.loop)
    }

    var isWanted: Bool { phase != .over }

    /// The service can be asked over this family, too.
    func add(_ family: IPAddress.Family) { if !families.contains(family) { families.append(family) } }

    /// The queue's word that it is this task's turn.
    func begin(on connection: AvahiConnection) {
        phase = .asking
        windowsUsed = 0
        // Nothing has come for nearly a second: a new resolver is made in the place of the old one.
        timer.fire = { [weak self] in self?.ask(on: connection) }
        ask(on: connection)
    }

    /// Looks again soon, if it would later.
    func lookAgain(within delay: Duration) {
        guard phase == .sleeping, let deadline = timer.deadline else { return }
        timer.deadline = min(deadline, MonotonicTime.now + delay)
    }

    /// Nobody wants to know any more.
    func cancel() {
        let isAsking = phase == .asking
        phase = .over
        freeResolvers()
        timer.free()
        if isAsking { queue.finished() }
    }

    /// All of an operation's: none of them is begun in the place of another.
    static func cancel(_ tasks: [ResolutionTask]) {
        for task in tasks where task.phase != .asking { task.cancel() }
        for task in tasks { task.cancel() }
    }

    private func ask(on connection: AvahiConnection) {
        freeResolvers()
        guard !families.isEmpty, windowsUsed < Self.windows * (isUrgent ? 1 : families.count) else { return failed() }
        // One family after the other, as answers are at hand.
        for family in isUrgent ? families : [families[windowsUsed % families.count]] {
            resolvers[family] = try? connection.resolve(instance, on: interface, over: family) { [weak self] in
                self?.received($0, over: family, connection)
            }
        }
        windowsUsed += 1
        resolvers.isEmpty ? failed() : timer.set(after: Self.window)
    }

    private func received(_ answer: ResolverAnswer?, over family: IPAddress.Family, _ connection: AvahiConnection) {
        guard phase == .asking, resolvers[family] != nil else { return }
        guard let answer else {
            // Freed: it would stay alive and ask on.
            resolvers.removeValue(forKey: family)?.free()
            if resolvers.isEmpty { ask(on: connection) }
            return
        }
        freeResolvers()
        families.removeAll { $0 == family }
        families.insert(family, at: 0)
        phase = .looking
        queue.finished()
        // A service that is not offered (port 0) needs no address.
        guard resolvesHost, answer.port != nil else { return found(answer, [], over: family) }
        queue.addresses(
            at: HostLook.Key(host: answer.host, interface: interface, family: addressFamily),
            known: told?.addresses ?? [], isNew: looks < Self.newLooks
        ) { [weak self] in self?.found(answer, $0, over: family) }
    }

    private func found(_ answer: ResolverAnswer, _ addresses: [IPAddress], over family: IPAddress.Family) {
        guard phase == .looking else { return }
        let resolution = Resolution(
            instance: instance, origin: .link(interface),
            target: Resolution.Target(host: answer.host, port: answer.port, addresses: addresses), txt: answer.txt)
        retryDelay = .seconds(1)
        if resolution != told {
            told = resolution
            looks = 0
            report(.resolved(resolution, over: family, isOwn: answer.isLocal))
        }
        settle(after: watches ? queue.delay(afterLooks: looks) : nil)
        looks += 1
    }

    private func failed() {
        phase = .looking
        queue.finished()
        told = nil
        looks = 0
        report(.failed)
        settle(after: watches || isUrgent ? retryDelay : nil)
        retryDelay = min(retryDelay * 2, .seconds(60))
    }

    /// - Parameter delay: when it looks again; nil: it has done what was asked.
    private func settle(after delay: Duration?) {
        // Whoever was told may have cancelled it.
        guard phase == .looking else { return }
        phase = delay == nil ? .over : .sleeping
        timer.fire = { [weak self] in
            guard let self else { return }
            phase = .waiting
            queue.submit(self)
        }
        if let delay { timer.set(after: delay) }
    }

    private func freeResolvers() {
        timer.deadline = nil
        for resolver in resolvers.values { resolver.free() }
        resolvers = [:]
    }
}
