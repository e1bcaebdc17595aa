#if GRPC
public import DNSSD
public import Discovery
public import GRPCNIOTransportHTTP2Posix

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
