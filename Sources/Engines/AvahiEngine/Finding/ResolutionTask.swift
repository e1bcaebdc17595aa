import DNSSD
import Discovery
import DiscoverySystem

/// Resolves one service on one interface: SRV and TXT with a resolver, then the host's addresses. Looks again while it
/// watches. Used only on the loop's thread.
final class ResolutionTask {
    /// The result; while the task watches, it is reported again when it changes.
    enum Outcome {
        case resolved(Resolution, over: IPAddress.Family, isOwn: Bool)
        case failed
    }

    private enum Phase {
        /// Waiting for its turn.
        case waiting
        /// Waiting for SRV and TXT.
        case asking
        /// Has SRV and TXT, waiting for the addresses.
        case looking
        /// Waiting for its next look.
        case sleeping
        case over
    }

    /// How long a resolver stays open: less than a second, the shortest life of a record
    /// (docs/decisions/0014-nothing-is-held.md).
    private static let window = Duration.milliseconds(950)
    /// The number of windows before giving up: together they last about 5 s, as long as Avahi's own resolver tries.
    private static let windows = 5
    /// The number of looks during which a missing address may be due to a lost packet.
    private static let newLooks = 3

    /// Whether the service was requested by name: the task skips the queue and asks over all families at once, until
    /// one answers.
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
    /// Families to ask over; the one that answered last comes first.
    private var families: [IPAddress.Family] = []
    private var resolvers: [IPAddress.Family: AvahiLookup] = [:]
    private var windowsUsed = 0
    private var told: Resolution?
    /// The number of looks that found nothing new.
    private var looks = 0
    private var retryDelay = Duration.seconds(1)

    /// - Parameters:
    ///   - instance: the service.
    ///   - interface: where to ask.
    ///   - isUrgent: whether to skip the queue and ask over all families at once.
    ///   - watches: whether to look again after the first result.
    ///   - addressFamily: the only family of addresses to look up; nil for both.
    ///   - resolvesHost: false to report SRV and TXT as soon as they arrive, without addresses.
    ///   - queue: decides when to ask.
    ///   - report: receives each result, on the loop's thread.
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

    /// Adds a family over which the service can be asked.
    func add(_ family: IPAddress.Family) { if !families.contains(family) { families.append(family) } }

    /// Called by the queue when it is this task's turn.
    func begin(on connection: AvahiConnection) {
        phase = .asking
        windowsUsed = 0
        // Without an answer for nearly a second, the resolver is replaced.
        timer.fire = { [weak self] in self?.ask(on: connection) }
        ask(on: connection)
    }

    /// Brings the next look forward to `delay` from now.
    func lookAgain(within delay: Duration) {
        guard phase == .sleeping, let deadline = timer.deadline else { return }
        timer.deadline = min(deadline, MonotonicTime.now + delay)
    }

    /// The result is no longer wanted.
    func cancel() {
        let isAsking = phase == .asking
        phase = .over
        freeResolvers()
        timer.free()
        if isAsking { queue.finished() }
    }

    /// Cancels all tasks of an operation, waiting ones first, so that none of them starts in another's place.
    static func cancel(_ tasks: [ResolutionTask]) {
        for task in tasks where task.phase != .asking { task.cancel() }
        for task in tasks { task.cancel() }
    }

    private func ask(on connection: AvahiConnection) {
        freeResolvers()
        guard !families.isEmpty, windowsUsed < Self.windows * (isUrgent ? 1 : families.count) else { return failed() }
        // Without urgency, the families take turns.
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
            // It would go on asking if it were not freed.
            resolvers.removeValue(forKey: family)?.free()
            if resolvers.isEmpty { ask(on: connection) }
            return
        }
        freeResolvers()
        families.removeAll { $0 == family }
        families.insert(family, at: 0)
        phase = .looking
        queue.finished()
        // A service with port 0 is not offered and needs no address.
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

    /// Sleeps until the next look.
    /// - Parameter delay: the time until then; nil if the task is done.
    private func settle(after delay: Duration?) {
        // The report's receiver may have cancelled the task.
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
