#if GRPC
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
#endif
