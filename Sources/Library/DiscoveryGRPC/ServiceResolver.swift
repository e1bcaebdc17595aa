#if GRPC
public import DNSSD
public import Discovery
internal import GRPCCore
public import GRPCNIOTransportHTTP2Posix

extension NameResolvers {
    /// Resolves `ResolvableTargets.ServiceDiscovery` on a network, and follows its services as they come, move and go.
    ///
    /// A service is one gRPC endpoint with every address that `policy` allows, in the order in which to dial them. They
    /// are judged again with each change and every 5 s. What gRPC Swift keeps is its own: it goes on with the addresses
    /// that it had while nothing can be dialled.
    public struct ServiceDiscovery: NameResolverFactory, Sendable {
        private let network: LocalNetwork
        private let policy: AddressPolicy

        /// Creates a factory, for a `NameResolverRegistry`.
        public init(network: LocalNetwork, policy: AddressPolicy = AddressPolicy()) {
            self.network = network
            self.policy = policy
        }

        /// Creates the resolver of a target.
        public func resolver(for target: ResolvableTargets.ServiceDiscovery) -> NameResolver {
            NameResolver(
                names: RPCAsyncSequence(
                    wrapping: ServiceAddresses(network: network, policy: policy, target: target.target)),
                updateMode: .push,
                authority: target.authority)
        }
    }
}

extension NameResolverRegistry {
    /// The usual resolvers, and the one for `dnssd` targets.
    public static func discovering(on network: LocalNetwork, policy: AddressPolicy = AddressPolicy()) -> Self {
        var registry = defaults
        registry.registerFactory(NameResolvers.ServiceDiscovery(network: network, policy: policy))
        return registry
    }
}

extension ResolvableTargets {
    /// A gRPC target that is found by DNS-SD: one service by name, or all services of a type.
    public struct ServiceDiscovery: ResolvableTarget, Sendable {
        /// The services.
        public var target: ServiceQuery.Target
        /// The authority of requests; nil for the address in use. With TLS, the name in the server's certificate.
        public var authority: String?

        /// Creates a target.
        public init(_ target: ServiceQuery.Target, authority: String? = nil) {
            self.target = target
            self.authority = authority
        }

        /// Reads `dnssd:tony._grpc._tcp.local`, a service, or `dnssd:_grpc._tcp`, all of a type in `local`. `dnssd:///` is the same; a name stands
        /// as it is, without percent encoding.
        /// - Throws: `.invalidServiceName`, `.invalidServiceType`; `.invalidServiceName`, too, for a server after `//`: DNS-SD asks none.
        public init(_ text: String, authority: String? = nil) throws(DiscoveryError) {
            var name = text[...]
            for prefix in ["dnssd:", "///"] where name.hasPrefix(prefix) { name = name.dropFirst(prefix.count) }
            guard !name.hasPrefix("//") else {
                throw DiscoveryError(
                    .invalidServiceName, "\(text.quotedForMessage): after // would come a server, and none is asked")
            }
            if name.hasPrefix("_") {
                self.init(.type(try ServiceType(String(name)), .local), authority: authority)
            } else {
                self.init(.instance(try ServiceInstance(fullName: String(name))), authority: authority)
            }
        }
    }
}

extension ResolvableTarget where Self == ResolvableTargets.ServiceDiscovery {
    /// One service by name.
    public static func dnssd(_ instance: ServiceInstance, authority: String? = nil) -> Self {
        Self(.instance(instance), authority: authority)
    }

    /// All services of a type. Which of them serves a call is decided by the load balancing of the `ServiceConfig`.
    public static func dnssd(_ type: ServiceType, in domain: Domain = .local, authority: String? = nil) -> Self {
        Self(.type(type, domain), authority: authority)
    }

    /// The target of a text, as `dnssd:tony._grpc._tcp.local`.
    /// - Throws: as `ResolvableTargets.ServiceDiscovery.init(_:authority:)`.
    public static func dnssd(_ text: String, authority: String? = nil) throws(DiscoveryError) -> Self {
        try Self(text, authority: authority)
    }
}
#endif
