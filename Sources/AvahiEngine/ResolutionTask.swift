import DNSSD
import Discovery

/// Resolves one service on one interface: SRV and TXT by a resolver, addresses by a host's tracker. Touched by the loop's thread only.
final class ResolutionTask {
    /// What came of it; told anew when something changes, while it watches.
    enum Outcome {
        case resolved(Resolution, over: IPAddress.Family)
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
    }

    let instance: ServiceInstance
    let interface: NetworkInterface
    private let approach: Approach
    private let watches: Bool
    private let addressFamily: IPAddress.Family?
    private unowned let pool: ResolverPool
    private let report: (Outcome) -> Void

    private(set) var isWanted = true
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

    init(
        _ instance: ServiceInstance, on interface: NetworkInterface, approach: Approach, watches: Bool,
        addressFamily: IPAddress.Family?, pool: ResolverPool, report: @escaping (Outcome) -> Void
    ) {
        self.instance = instance
        self.interface = interface
        self.approach = approach
        self.watches = watches
        self.addressFamily = addressFamily
        self.pool = pool
        self.report = report
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
        switch approach {
        case .inTurn: tryNext()
        case .atOnce:
            let all = untried
            untried = []
            for family in all where isInFlight { resolve(over: family) }
            if isInFlight, resolvers.isEmpty { failed() }
        }
    }

    /// Nobody wants to know any more.
    func cancel() {
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
        case .found(let host, let port, let txt):
            guard let host = HostName(observed: host) else { return received(.failed(Self.badHost), over: family) }
            found(Answer(host: host, port: Port(rawValue: port), txt: TXTRecord(strings: txt), family: family))
        case .failed:
            // Freed: it would stay alive and ask on. The retry makes a new one.
            resolvers.removeValue(forKey: family)?.free()
            guard resolvers.isEmpty else { return }
            if isInFlight, answer == nil, !untried.isEmpty { tryNext() } else { failed() }
        }
    }

    private static let badHost = DiscoveryError(.invalidHostName, "the host's name is not a DNS name")

    private func found(_ new: Answer) {
        for (family, resolver) in resolvers where family != new.family {
            resolver.free()
            resolvers[family] = nil
        }
        let hostChanged = new.host != answer?.host
        answer = new
        if !watches || !pool.hasRoom { freeResolvers() }
        if hostChanged || lease == nil { takeLease(on: new.host) }
        tell()
        leaveFlight()
    }

    private func takeLease(on host: HostName) {
        giveBackLease()
        guard pool.lookups.isConnected else { return }
        lease = pool.hosts.lease(host, on: interface, family: addressFamily) { [weak self] in
            self?.tell()
        }
    }

    private func tell() {
        guard let answer else { return }
        // A service that is not offered (port 0) needs no address.
        let addresses = answer.port == nil ? [] : lease?.tracker.addresses
        guard let addresses else { return }
        let resolution = Resolution(
            instance: instance, interface: interface, host: answer.host, port: answer.port, txt: answer.txt,
            addresses: addresses, isComplete: true)
        retryDelay = .seconds(1)
        if resolution != told {
            told = resolution
            report(.resolved(resolution, over: answer.family))
        }
        guard isPending else { return }
        isPending = false
        settle()
    }

    /// The answer is told: keep what hears of changes, or let it go.
    private func settle() {
        guard watches else { return free() }
        guard resolvers.isEmpty || !pool.hasRoom else { return }
        free()
        answer = nil
        pool.submit(self, after: ResolverPool.refreshInterval)
    }

    private func failed() {
        free()
        answer = nil
        told = nil
        isPending = false
        report(.failed)
        if watches, isWanted {
            pool.submit(self, after: retryDelay)
            retryDelay = min(retryDelay * 2, .seconds(60))
        }
        leaveFlight()
    }

    private func leaveFlight() {
        guard isInFlight else { return }
        isInFlight = false
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
