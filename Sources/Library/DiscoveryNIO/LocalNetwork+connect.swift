public import DNSSD
public import Discovery
public import NIOCore
public import NIOPosix

extension LocalNetwork {
    /// Connects to a service: resolves it and dials all its addresses according to RFC 8305, as far as `policy` allows.
    ///
    /// `initializer` runs only for the connection that is used; the channel becomes active afterwards. Return what you need from it: the
    /// channel, or a `NIOAsyncChannel` around it.
    /// - Throws: `DiscoveryError` as in `Establishment.result`, `.invalidServiceType` for a type `_udp`; the errors of `initializer`.
    public func connect<Output: Sendable>(
        to target: ConnectTarget,
        on interfaces: InterfaceFilter = .all,
        over family: IPAddress.Family? = nil,
        policy: AddressPolicy = AddressPolicy(),
        limits: RaceLimits = RaceLimits(),
        group: any EventLoopGroup = .singletonMultiThreadedEventLoopGroup,
        initializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Output>
    ) async throws -> (output: Output, report: EstablishmentReport) {
        try target.type.checkHasConnections(insteadOf: "connectDatagrams(to:)")
        let dialer = NIODialer(group: group)
        let connector = Connector(network: self, dialer: dialer, policy: policy, limits: limits)
        let establishment = await connector.establish(target, on: interfaces, over: family)
        let channel = try establishment.result.get()
        return (try await NIODialer.activate(channel, initializer), establishment.report)
    }

    /// Connects to a service by name, with the handlers that `initializer` adds.
    /// - Throws: as `connect(to:on:over:policy:limits:group:initializer:)`.
    public func connect(
        to instance: ServiceInstance,
        initializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Void> = {
            $0.eventLoop.makeSucceededVoidFuture()
        }
    ) async throws -> (channel: any Channel, report: EstablishmentReport) {
        let result = try await connect(to: .instance(instance)) { channel in initializer(channel).map { channel } }
        return (result.output, result.report)
    }

    /// Connects to a discovered service, at the addresses it had then.
    /// - Throws: as `connect(to:on:over:policy:limits:group:initializer:)`.
    public func connect(
        to service: DiscoveredService,
        initializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Void> = {
            $0.eventLoop.makeSucceededVoidFuture()
        }
    ) async throws -> (channel: any Channel, report: EstablishmentReport) {
        let result = try await connect(to: .service(service)) { channel in initializer(channel).map { channel } }
        return (result.output, result.report)
    }

    /// Connects to any service of a type that answers.
    /// - Throws: as `connect(to:on:over:policy:limits:group:initializer:)`.
    public func connect(
        toAny type: ServiceType,
        in domain: Domain = .local,
        initializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Void> = {
            $0.eventLoop.makeSucceededVoidFuture()
        }
    ) async throws -> (channel: any Channel, report: EstablishmentReport) {
        let target = ConnectTarget.any(type, in: domain)
        let result = try await connect(to: target) { channel in initializer(channel).map { channel } }
        return (result.output, result.report)
    }
}

extension ConnectTarget {
    fileprivate var type: ServiceType {
        switch self {
        case .instance(let instance): instance.type
        case .service(let service): service.instance.type
        case .any(let type, _): type
        }
    }
}

extension ServiceType {
    /// - Throws: `.invalidServiceType` for a type `_udp`, which is for all but TCP (RFC 6763 §7); it names the call for it.
    package func checkHasConnections(insteadOf other: String) throws(DiscoveryError) {
        guard transport == .tcp else {
            throw DiscoveryError(
                .invalidServiceType,
                "\(self): a service of type _udp has no connections (RFC 6763 §7); \(other) is for it")
        }
    }
}
