import DNSSD
import Discovery
import System

/// Resolves one service on one interface: SRV and TXT with a resolver, then the host's addresses. Repeats while it
/// watches. Used only on the loop's thread.
final class ResolutionTask {
    /// The result; reported again when it changes, while the task watches.
    enum Outcome {
        case resolved(Resolution, over: IPAddress.Family, isOwn: Bool)
        case failed
    }

    private enum Phase {
        /// Waiting for its turn.
        case waiting
        case asking
        /// Has SRV and TXT, looks up addresses.
        case looking
        /// Waiting for its next look.
        case sleeping
        case over
    }

    /// How long a resolver stays open: less than a second, the shortest life of a record
    /// (docs/decisions/0014-nothing-is-held.md).
    private static let window = Duration.milliseconds(950)
    /// This many windows are the 5 s after which Avahi's own resolver gives up.
    private static let windows = 5
    /// For this many looks a missing address may be the result of a lost packet.
    private static let newLooks = 3

    /// Requested by name, with nothing known yet: asks over all families, at once, until one answers.
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
    /// How many looks found nothing new.
    private var looks = 0
    private var retryDelay = Duration.seconds(1)

    /// - Parameter resolvesHost: false reports an answer without addresses, as soon as SRV and TXT arrive.
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

    /// The service can also be asked over this family.
    func add(_ family: IPAddress.Family) { if !families.contains(family) { families.append(family) } }

    /// Called by the queue when it is this task's turn.
    func begin(on connection: AvahiConnection) {
        phase = .asking
        windowsUsed = 0
        // No answer for nearly a second: replaces the resolver.
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
        // Alternates between the families.
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
            // Freed, because it would go on asking.
            resolvers.removeValue(forKey: family)?.free()
            if resolvers.isEmpty { ask(on: connection) }
            return
        }
        freeResolvers()
        families.removeAll { $0 == family }
        families.insert(family, at: 0)
        phase = .looking
        queue.finished()
        // A service with port 0 is not offered, and needs no address.
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

    /// - Parameter delay: until the next look; nil if the task is done.
    private func settle(after delay: Duration?) {
        // The receiver of the report may have cancelled the task.
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
