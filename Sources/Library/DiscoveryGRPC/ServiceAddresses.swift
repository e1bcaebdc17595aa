#if GRPC
internal import DNSSD
internal import Discovery
internal import GRPCCore
internal import GRPCNIOTransportHTTP2Posix

/// The addresses of a target's services that may be dialled: once there are any, and after each change.
///
/// Throws `unavailable` if there are none after 5 s. Every iterator asks anew.
struct ServiceAddresses: AsyncSequence, Sendable {
    typealias Element = NameResolutionResult
    typealias Failure = any Error

    /// How long services may take to be found, and how often addresses are judged again.
    static let patience: Duration = .seconds(5)
    /// The most services that a channel connects to; the others wait until there is room.
    static let maximumServices = 64

    let network: LocalNetwork
    let policy: AddressPolicy
    let target: ServiceQuery.Target

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(
            addresses: self, deadline: network.directory.time.now + Self.patience,
            events: network.browse(ServiceQuery(target)).makeAsyncIterator())
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        let addresses: ServiceAddresses
        /// Of the first addresses.
        let deadline: Duration
        var events: ServiceEvents.AsyncIterator
        var services: [DiscoveredService] = []
        var last: [GRPCNIOTransportHTTP2Posix.Endpoint] = []

        mutating func next() async throws -> NameResolutionResult? { try await next(isolation: #isolation) }

        mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> NameResolutionResult? {
            let time = addresses.network.directory.time
            while let batch = try await events.nextBatch(
                atMost: ServiceAddresses.maximumServices,
                until: last.isEmpty ? deadline : time.now + ServiceAddresses.patience)
            {
                for event in batch { apply(event) }
                let endpoints = services.prefix(ServiceAddresses.maximumServices).compactMap(endpoint)
                if !endpoints.isEmpty, endpoints != last {
                    last = endpoints
                    return NameResolutionResult(endpoints: endpoints, serviceConfig: nil)
                }
                // A list that was never sent, or that gRPC goes on with, is none to wait for.
                if last.isEmpty, time.now >= deadline { throw unavailable }
            }
            throw CancellationError()
        }

        private mutating func apply(_ event: ServiceEvent) {
            switch event {
            case .found(let service), .changed(let service):
                if let index = services.firstIndex(where: { $0.instance == service.instance }) {
                    services[index] = service
                } else {
                    services.append(service)
                }
            case .lost(let service): services.removeAll { $0.instance == service.instance }
            case .settled, .backend, .degraded: break
            }
        }

        private func endpoint(_ service: DiscoveredService) -> GRPCNIOTransportHTTP2Posix.Endpoint? {
            let permitted = addresses.network.endpoints(of: service, permittedBy: addresses.policy)
            guard !permitted.isEmpty else { return nil }
            return GRPCNIOTransportHTTP2Posix.Endpoint(addresses: permitted.map { SocketAddress($0) })
        }

        private var unavailable: RPCError {
            let what =
                switch addresses.target {
                case .instance(let instance): "\(instance)"
                case .type(let type, let domain): "a service of type \(type) in \(domain)"
                }
            let why = services.isEmpty ? "was not found" : "has no address that may be dialled"
            return RPCError(code: .unavailable, message: "\(what) \(why)")
        }
    }
}

extension GRPCNIOTransportHTTP2Posix.SocketAddress {
    /// The address, with the number of its interface if it is link-local.
    fileprivate init(_ endpoint: DNSSD.Endpoint) {
        let (host, port) = (endpoint.address.text(scopedTo: nil), Int(endpoint.port.rawValue))
        self = endpoint.address.family == .ipv4 ? .ipv4(host: host, port: port) : .ipv6(host: host, port: port)
    }
}
#endif
