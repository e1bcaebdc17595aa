public import DNSSD

/// Connects to services: resolves them, dials the addresses that the policy allows in parallel as RFC 8305 describes,
/// and reports what happened.
public struct Connector<D: Dialer>: Sendable {
    /// Finds the services, and keeps track of those that cannot be reached.
    public let network: LocalNetwork
    /// Makes the connections.
    public let dialer: D
    /// Decides which addresses may be dialled.
    public var policy: AddressPolicy
    /// Bounds the time and the number of attempts.
    public var limits: RaceLimits
    /// How long to wait for the service to be found; never longer than `limits.overall`.
    public var patience: Duration
    /// Returns this machine's addresses; called before each attempt.
    public var localAddresses: @Sendable () -> LocalAddresses
    /// Returns this machine's routes; called before each attempt.
    public var routes: @Sendable () -> any RouteLookup

    /// Creates a connector.
    public init(
        network: LocalNetwork,
        dialer: D,
        policy: AddressPolicy = AddressPolicy(),
        limits: RaceLimits = RaceLimits(),
        patience: Duration = .seconds(5),
        localAddresses: @escaping @Sendable () -> LocalAddresses = { .system() },
        routes: @escaping @Sendable () -> any RouteLookup = { SystemRoutes() }
    ) {
        (self.network, self.dialer, self.policy, self.limits) = (network, dialer, policy, limits)
        (self.patience, self.localAddresses, self.routes) = (patience, localAddresses, routes)
    }

    /// Connects and reports what was tried. Returns within `limits.overall`; cancellation ends every attempt and closes
    /// its connection.
    /// - Parameters:
    ///   - target: the service or services to connect to.
    ///   - interfaces: where to look for them.
    ///   - family: nil for IPv4 and IPv6.
    public func establish(
        _ target: ConnectTarget,
        on interfaces: InterfaceFilter = .all,
        over family: IPAddress.Family? = nil
    ) async -> Establishment<D.Connection> {
        let directory = network.directory
        var run = Connecting(self, target, family: family, limits: limits(for: target), now: directory.time.now)
        let subscription = target.query(interfaces, family)
            .map { directory.services.subscribe($0, directory.makeSubscriber()) }
        let establishment = await run.run(subscription)
        learn(from: run, interfaces)
        if let observer = directory.observer {
            var error: DiscoveryError?
            if case .failure(let reason) = establishment.result { error = reason }
            observer.observed(.connected(target, establishment.report, error))
        }
        return establishment
    }

    /// Connects, as `establish` does, without a report.
    /// - Throws: the error of `Establishment.result`.
    public func connect(
        to target: ConnectTarget,
        on interfaces: InterfaceFilter = .all,
        over family: IPAddress.Family? = nil
    ) async throws(DiscoveryError) -> D.Connection {
        try await establish(target, on: interfaces, over: family).result.get()
    }

    /// Shortens the race for a service that could not be reached before, so that not every caller waits in full. A host
    /// on the same link answers within milliseconds or is not there.
    private func limits(for target: ConnectTarget) -> RaceLimits {
        guard let instance = target.instance, network.directory.reachability.isMarked(instance) else { return limits }
        return RaceLimits(
            attemptDelay: .milliseconds(100), maximumAttempts: limits.maximumAttempts,
            overall: min(limits.overall, .seconds(1)))
    }

    private func learn(from run: Connecting<D>, _ interfaces: InterfaceFilter) {
        let directory = network.directory
        if let winner = run.winner { directory.reached(winner) }
        let recheck = Recheck(dialer: dialer, policy: policy, localAddresses: localAddresses, routes: routes)
        for instance in run.unreachable {
            directory.couldNotReach(instance) { [weak network, recheck] in
                guard let network else { return false }
                return await recheck.answers(instance, on: interfaces, network)
            }
        }
    }
}

/// Resolves and dials an unreachable service, and closes the connection if there is one. Does not keep the network
/// alive.
private struct Recheck<D: Dialer>: Sendable {
    let dialer: D
    let policy: AddressPolicy
    let localAddresses: @Sendable () -> LocalAddresses
    let routes: @Sendable () -> any RouteLookup

    func answers(_ instance: ServiceInstance, on interfaces: InterfaceFilter, _ network: LocalNetwork) async -> Bool {
        let connector = Connector(
            network: network, dialer: dialer, policy: policy, limits: RaceLimits(overall: .seconds(2)),
            localAddresses: localAddresses, routes: routes)
        let directory = network.directory
        var run = Connecting(
            connector, .instance(instance), family: nil, limits: connector.limits, now: directory.time.now)
        let query = ServiceQuery(.instance(instance), interfaces: interfaces)
        let subscription = directory.services.subscribe(query, directory.makeSubscriber())
        guard case .success(let connection) = await run.run(subscription).result else { return false }
        await dialer.close(connection)
        return true
    }
}

/// Makes a connection to one endpoint: with plain sockets, with SwiftNIO, or in a test's simulation.
public protocol Dialer<Connection>: Sendable {
    /// A connection on which nothing has been sent or read: it is closed unused if another one is faster.
    associatedtype Connection: Sendable

    /// Connects. Must return soon after the task is cancelled.
    /// - Throws: `DialFailure`, or `CancellationError`; any other error counts as `.refused`.
    func dial(_ endpoint: Endpoint) async throws -> Connection

    /// Closes a connection that is not wanted.
    func close(_ connection: Connection) async
}

/// The reason a connection to an endpoint failed.
public struct DialFailure: Error, Hashable, Sendable {
    /// `.refused`, `.timeout` or `.cancelled`.
    public let outcome: EstablishmentReport.Outcome
    /// The reason for people, such as "connection refused"; safe for a terminal.
    public let reason: String

    /// Creates a failure.
    public init(_ outcome: EstablishmentReport.Outcome, _ reason: String) {
        self.outcome = outcome
        self.reason = reason
    }
}
