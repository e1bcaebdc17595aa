#if HTTPClient
public import AsyncHTTPClient
internal import DNSSD
public import Discovery
internal import DiscoveryNIO
internal import DiscoverySystem
public import Logging
public import NIOCore
internal import NIOHTTP1
public import NIOPosix

/// Sends HTTP requests to services by name, with async-http-client.
///
/// The first request to a service resolves it and dials all its addresses according to RFC 8305, as far as `policy`
/// allows; the winner's address serves for requests of the next 10 s, judged again each time, and is found again as
/// soon as it refuses. So a service that moves is followed. A request on a kept connection that ends under it is sent once
/// more, if its method is idempotent and it has no body (RFC 9110 §9.2.2). Redirects are not: they could lead to an address that the
/// policy forbids. No proxy is used.
public final class ServiceHTTPClient: Sendable {
    private let network: LocalNetwork
    private let policy: AddressPolicy
    private let group: any EventLoopGroup
    private let client: HTTPClient
    private let known: KnownEndpoints

    /// Creates a client; `shutdown()` ends it and waits for that.
    /// - Parameters:
    ///   - network: finds the services.
    ///   - policy: decides which addresses may be dialled.
    ///   - configuration: of the HTTP client; its redirects, proxy and names of hosts are not used, and a connection
    ///     has 2 s unless it says otherwise.
    ///   - group: the event loops of its connections.
    public init(
        network: LocalNetwork,
        policy: AddressPolicy = AddressPolicy(),
        configuration: HTTPClient.Configuration = HTTPClient.Configuration(),
        group: any EventLoopGroup = .singletonMultiThreadedEventLoopGroup
    ) {
        var configuration = configuration
        configuration.redirectConfiguration = .disallow
        configuration.proxy = nil
        configuration.dnsOverride = [:]
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.timeout.connect = configuration.timeout.connect ?? .seconds(2)
        (self.network, self.policy, self.group) = (network, policy, group)
        client = HTTPClient(eventLoopGroup: group, configuration: configuration)
        known = KnownEndpoints(network: network, policy: policy)
    }

    /// One that nobody has ended ends now: async-http-client stops a debug build otherwise.
    deinit {
        let client = client
        Task { try? await client.shutdown() }
    }

    /// Sends a request to a service.
    /// - Parameters:
    ///   - request: its `url` is a path and a query, beginning with `/`. A `Host` field is added if it has none: the
    ///     host that offers the service, and the port.
    ///   - target: the service, or a type: whichever answers first.
    ///   - timeout: for all of it.
    ///   - logger: receives what the HTTP client logs; nil logs nothing.
    /// - Throws: `DiscoveryError` if the service cannot be found or reached (as `Establishment.result`), the errors of
    ///   the HTTP client, `ServiceHTTPClient.NotAPath`.
    public func execute(
        _ request: HTTPClientRequest,
        on target: ConnectTarget,
        timeout: TimeAmount = .seconds(30),
        logger: Logger? = nil
    ) async throws -> HTTPClientResponse {
        guard request.url.utf8.first == UInt8(ascii: "/") else { throw NotAPath(url: request.url) }
        let deadline = NIODeadline.now() + timeout
        if let place = known.place(of: target) {
            do {
                return try await client.execute(place.addressed(request), deadline: deadline, logger: logger)
            } catch {
                let mayGoOn = Self.hasNotBegun(error) || request.mayBeRepeated && Self.isCut(error)
                if mayGoOn || Self.isUnreachable(error) { known.forget(target) }
                guard mayGoOn else { throw error }
            }
        }
        let place = try await establish(target, until: deadline)
        return try await client.execute(place.addressed(request), deadline: deadline, logger: logger)
    }

    /// Ends the client and its connections.
    /// - Throws: as `HTTPClient.shutdown()`: where it was ended before.
    public func shutdown() async throws { try await client.shutdown() }

    /// A request's `url` that is no path.
    public struct NotAPath: Error, CustomStringConvertible {
        /// What it was.
        public let url: String
        /// The rule, safe for a terminal.
        public var description: String { "\(url.quotedForMessage): a path begins with /; the service has the rest" }
    }

    private func establish(_ target: ConnectTarget, until deadline: NIODeadline) async throws -> ServicePlace {
        let dialer = NIODialer(group: group)
        var connector = Connector(network: network, dialer: dialer, policy: policy)
        let left = Duration.nanoseconds(max((deadline - .now()).nanoseconds, 0))
        connector.limits = RaceLimits(overall: min(connector.limits.overall, left))
        let establishment = await connector.establish(target)
        // async-http-client makes its own connections: this one has found out which address works.
        await dialer.close(try establishment.result.get())
        guard let service = establishment.report.service, let endpoint = establishment.report.winner else {
            throw DiscoveryError(.unreachable, "no address has answered")
        }
        let place = ServicePlace(service: service, endpoint: endpoint)
        known.remember(place, of: target)
        return place
    }

    /// Whether a connection that was kept from an earlier request ended under this one: its server has gone, or took it for idle.
    private static func isCut(_ error: any Error) -> Bool {
        switch error {
        case let error as HTTPClientError: error == .remoteConnectionClosed
        case ChannelError.ioOnClosedChannel, ChannelError.eof: true
        // ECONNRESET, EPIPE.
        case let error as IOError: error.errnoCode == 104 || error.errnoCode == 32 || isUnreachable(error)
        default: false
        }
    }

    /// Whether the address is not reached any more, by a new connection or an old one: ENETUNREACH, EHOSTUNREACH.
    private static func isUnreachable(_ error: any Error) -> Bool {
        guard let error = error as? IOError else { return false }
        return error.errnoCode == 101 || error.errnoCode == 113
    }

    /// Whether no connection was made, so that nothing of the request was sent.
    private static func hasNotBegun(_ error: any Error) -> Bool {
        switch error {
        case let error as HTTPClientError: error == .connectTimeout
        // ECONNREFUSED: only connect(2) has it.
        case let error as IOError: error.errnoCode == 111
        default: false
        }
    }
}

extension HTTPClientRequest {
    /// Sent twice it does no more than sent once (RFC 9110 §9.2.2), and nothing of a body is used up.
    fileprivate var mayBeRepeated: Bool {
        body == nil && [.GET, .HEAD, .PUT, .DELETE, .OPTIONS, .TRACE].contains(method)
    }
}

/// A service, and the address at which it answered.
struct ServicePlace: Sendable {
    let service: DiscoveredService
    let endpoint: Endpoint

    /// The request with the address, and a `Host` field.
    func addressed(_ request: HTTPClientRequest) -> HTTPClientRequest {
        var request = request
        request.url = "http://\(authority)\(request.url)"
        if request.headers["Host"].isEmpty { request.headers.add(name: "Host", value: hostField) }
        return request
    }

    /// The address as in a URL, a link-local one with its scope (RFC 6874 §2).
    var authority: String { bracketed(parts.joined(separator: "%25")) }

    /// The name of the host that offers the service; the address, without scope, where it has something that names in
    /// URLs do not have.
    var hostField: String {
        guard let name = (endpoint.target?.host ?? service.host)?.text,
            name.utf8.allSatisfy({ $0.isASCIIAlphanumeric || ".-_".utf8.contains($0) }), !name.isEmpty,
            name.utf8.count <= 253
        else { return bracketed(parts[0]) }
        return "\(name):\(endpoint.port)"
    }

    /// The address, and its scope if it has one.
    private var parts: [String] {
        endpoint.address.text(scopedTo: nil).split(separator: "%", maxSplits: 1).map(String.init)
    }

    private func bracketed(_ address: String) -> String {
        endpoint.address.family == .ipv6 ? "[\(address)]:\(endpoint.port)" : "\(address):\(endpoint.port)"
    }
}

/// Where services answered a short while ago.
final class KnownEndpoints: Sendable {
    /// How long an address serves without being asked for again. The records of a host live 120 s (RFC 6762 §10).
    static let lifetime: Duration = .seconds(10)
    /// The most services that are remembered.
    static let maximumCount = 64

    private struct Entry {
        let place: ServicePlace
        let end: Duration
    }

    private let network: LocalNetwork
    private let policy: AddressPolicy
    private let entries = Locked<[ConnectTarget: Entry]>([:])

    init(network: LocalNetwork, policy: AddressPolicy) {
        self.network = network
        self.policy = policy
    }

    /// The place of a target if it is known, and if the policy still permits it.
    func place(of target: ConnectTarget) -> ServicePlace? {
        let now = network.directory.time.now
        guard let entry = entries.withLock({ $0[target] }) else { return nil }
        guard now < entry.end,
            network.endpoints(of: entry.place.service, permittedBy: policy).contains(entry.place.endpoint)
        else {
            forget(target)
            return nil
        }
        return entry.place
    }

    func remember(_ place: ServicePlace, of target: ConnectTarget) {
        let now = network.directory.time.now
        entries.withLock { entries in
            if entries.count >= Self.maximumCount { entries = entries.filter { now < $0.value.end } }
            if entries.count >= Self.maximumCount, let first = entries.min(by: { $0.value.end < $1.value.end }) {
                entries[first.key] = nil
            }
            entries[target] = Entry(place: place, end: now + Self.lifetime)
        }
    }

    func forget(_ target: ConnectTarget) { entries.withLock { $0[target] = nil } }
}
#endif
