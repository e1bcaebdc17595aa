import DNSSD
import Discovery
import System

/// Resolves one service on one interface: SRV and TXT by a resolver, addresses by a host's tracker. Touched by the loop's thread only.
final class ResolutionTask {
    /// What came of it; told anew when something changes, while it watches.
    enum Outcome {
        case resolved(Resolution, over: IPAddress.Family, isOwn: Bool)
        case failed
    }

    /// Over which families to ask.
    enum Approach {
        /// The service was sighted: one family after the other, as answers are at hand.
        case inTurn
        /// Nothing is known yet: both at once.
        case atOnce
    }

    private struct Answer: Equatable {
        let host: HostName
        let port: Port?
        let txt: TXTRecord
        let family: IPAddress.Family
        let isOwn: Bool
    }

    /// The longest that a resolver is open: less than the second that the shortest-lived record lives.
    private static let window = Duration.milliseconds(950)
    /// So many of them are the 5 s after which Avahi's own resolver gives up.
    private static let windows = 5

    let instance: ServiceInstance
    let interface: NetworkInterface
    private let approach: Approach
    private let watches: Bool
    private let addressFamily: IPAddress.Family?
    private let resolvesHost: Bool
    private unowned let pool: ResolverPool
    private let report: (Outcome) -> Void

    private(set) var isWanted = true
    /// It waits for the time at which it looks again; the pool's.
    var isSleeping = false
    private var families: [IPAddress.Family] = []
    private var untried: [IPAddress.Family] = []
    private var resolvers: [IPAddress.Family: any Lookup] = [:]
    /// It holds one of the pool's places: until SRV and TXT are there. Addresses are the host's affair.
    private var isInFlight = false
    /// It was begun, and nothing came of it yet.
    private var isPending = false
    private var answer: Answer?
    private var lease: HostLease?
    private var told: Resolution?
    private var retryDelay = Duration.seconds(1)
    /// How often the same was seen again.
    private var looks = 0
    /// How often the resolvers that do not answer are made again before that is a failure.
    private var windowsLeft = 0
    private let windowTimer: LoopTimer

    /// - Parameter resolvesHost: without it there are no addresses, and an answer is told as soon as SRV and TXT are there.
    init(
        _ instance: ServiceInstance, on interface: NetworkInterface, approach: Approach, watches: Bool,
        addressFamily: IPAddress.Family?, resolvesHost: Bool = true, pool: ResolverPool,
        report: @escaping (Outcome) -> Void
    ) {
        self.instance = instance
        self.interface = interface
        self.approach = approach
        self.watches = watches
        self.addressFamily = addressFamily
        self.resolvesHost = resolvesHost
        self.pool = pool
        self.report = report
        windowTimer = LoopTimer(loop: pool.loop)
    }

    /// The service can be asked over this family, too.
    func add(_ family: IPAddress.Family) {
        guard !families.contains(family) else { return }
        families.append(family)
        if isInFlight { untried.append(family) }
    }

    /// The pool's word that it is this task's turn.
    func begin() {
        isInFlight = true
        isPending = true
        untried = families
        // What answered last is likely to answer again.
        if let last = answer?.family, let index = untried.firstIndex(of: last) { untried.swapAt(0, index) }
        windowsLeft = Self.windows * max(1, approach == .inTurn ? families.count : 1)
        // A crowd has avahi-daemon's own 5 s, for it takes longer and must not be asked more.
        if !pool.isCrowded {
            windowTimer.fire = { [weak self] in self?.windowEnded() }
            windowTimer.set(after: Self.window)
        }
        resolve()
    }

    private func resolve() {
        switch approach {
        case .inTurn: tryNext()
        case .atOnce:
            let all = untried
            untried = []
            for family in all where isInFlight { resolve(over: family) }
            if isInFlight, resolvers.isEmpty { failed() }
        }
    }

    /// Nothing has come for nearly a second: a new resolver is made in the place of the old one, so that nothing that came in meanwhile
    /// runs out while it is looked up (docs/decisions/0014-nothing-is-held.md).
    private func windowEnded() {
        guard isInFlight else { return }
        freeResolvers()
        windowsLeft -= 1
        guard windowsLeft > 0 else { return failed() }
        if untried.isEmpty { untried = families }
        windowTimer.set(after: Self.window)
        resolve()
    }

    /// Nobody wants to know any more.
    func cancel() {
        if isWanted, isSleeping {
            isWanted = false
            pool.gaveUpSleeping()
        }
        isWanted = false
        free()
        leaveFlight()
    }

    /// All of an operation's: none of them is begun in the place of another.
    static func cancel(_ tasks: [ResolutionTask]) {
        for task in tasks { task.isWanted = false }
        for task in tasks { task.cancel() }
    }

    private func tryNext() {
        while !untried.isEmpty {
            resolve(over: untried.removeFirst())
            if !resolvers.isEmpty { return }
        }
        failed()
    }

    private func resolve(over family: IPAddress.Family) {
        guard pool.lookups.isConnected, resolvers[family] == nil else { return }
        do throws(DiscoveryError) {
            resolvers[family] = try pool.lookups.resolver(of: instance, on: interface, over: family) { [weak self] in
                self?.received($0, over: family)
            }
        } catch {
            resolvers[family] = nil
        }
    }

    private func received(_ event: ServiceResolver.Event, over family: IPAddress.Family) {
        switch event {
        case .found(let host, let port, let txt, let isLocal):
            guard let host = HostName(observed: host) else { return received(.failed(Self.badHost), over: family) }
            found(
                Answer(
                    host: host, port: Port(rawValue: port), txt: TXTRecord(strings: txt), family: family,
                    isOwn: isLocal))
        case .failed:
            // Freed: it would stay alive and ask on. The retry makes a new one.
            resolvers.removeValue(forKey: family)?.free()
            guard isInFlight, resolvers.isEmpty else { return }
            if untried.isEmpty { failed() } else { tryNext() }
        }
    }

    private static let badHost = DiscoveryError(.invalidHostName, "the host's name is not a DNS name")

    private func found(_ new: Answer) {
        freeResolvers()
        let hostChanged = new.host != answer?.host
        answer = new
        if hostChanged || lease == nil { takeLease(on: new.host) } else if let lease { pool.hosts.refresh(lease) }
        tell()
        leaveFlight()
    }

    private func takeLease(on host: HostName) {
        giveBackLease()
        guard resolvesHost, pool.lookups.isConnected else { return }
        lease = pool.hosts.lease(host, on: interface, family: addressFamily) { [weak self] in
            self?.tell()
        }
    }

    private func tell() {
        guard let answer else { return }
        // A service that is not offered (port 0) needs no address.
        let addresses = answer.port == nil || !resolvesHost ? [] : lease?.tracker.addresses
        guard let addresses else { return }
        let resolution = Resolution(
            instance: instance, origin: .link(interface),
            target: Resolution.Target(host: answer.host, port: answer.port, addresses: addresses), txt: answer.txt)
        retryDelay = .seconds(1)
        if resolution != told {
            told = resolution
            looks = 0
            report(.resolved(resolution, over: answer.family, isOwn: answer.isOwn))
        }
        guard isPending else { return }
        isPending = false
        settle()
    }

    /// The answer is told: it is looked at again later, or let go.
    private func settle() {
        guard watches else { return free() }
        pool.refresh(self, afterLooks: looks)
        looks += 1
    }

    private func failed() {
        free()
        answer = nil
        told = nil
        looks = 0
        isPending = false
        report(.failed)
        // One that was asked for by name is looked for until it answers.
        if isWanted, watches || approach == .atOnce {
            pool.submit(self, after: retryDelay)
            retryDelay = min(retryDelay * 2, .seconds(60))
        }
        leaveFlight()
    }

    private func leaveFlight() {
        guard isInFlight else { return }
        isInFlight = false
        windowTimer.free()
        pool.finished()
    }

    private func giveBackLease() {
        if let lease { pool.hosts.give(back: lease) }
        lease = nil
    }

    private func free() {
        freeResolvers()
        giveBackLease()
    }

    private func freeResolvers() {
        for resolver in resolvers.values { resolver.free() }
        resolvers = [:]
    }
}
