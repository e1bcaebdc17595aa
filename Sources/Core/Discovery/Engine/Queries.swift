public import DNSSD

/// A question for services: all of a type, or one by name.
public struct ServiceQuery: Hashable, Sendable {
    /// The services asked for.
    public enum Target: Hashable, Sendable {
        /// Every instance of a type, or of one of its subtypes.
        case type(ServiceType, Domain)
        /// One instance by name, without browsing for its type.
        case instance(ServiceInstance)
    }

    /// Whether services are resolved, and for how long.
    public enum Resolution: Hashable, Sendable {
        /// Services are not resolved: only their names are reported.
        case none
        /// Services are resolved once; later changes are not looked for.
        case once
        /// Services are resolved as long as the query lives: changes of port, TXT and addresses are reported.
        case watch
    }

    /// The services asked for.
    public var target: Target
    /// Where to ask.
    public var interfaces: InterfaceFilter
    /// The only IP family to ask over and to report addresses of; nil for both.
    public var family: IPAddress.Family?
    /// Whether services are resolved, and for how long.
    public var resolution: Resolution

    /// Creates a query.
    public init(
        _ target: Target, interfaces: InterfaceFilter = .all, family: IPAddress.Family? = nil,
        resolution: Resolution = .watch
    ) {
        (self.target, self.interfaces, self.family, self.resolution) = (target, interfaces, family, resolution)
    }
}

extension ServiceQuery {
    /// The domain of the target; a question has exactly one.
    public var domain: Domain {
        switch target {
        case .type(_, let domain): domain
        case .instance(let instance): instance.domain
        }
    }
}

/// A question for service types.
public struct TypeQuery: Hashable, Sendable {
    /// The domain whose types are asked for.
    public var domain: Domain
    /// Where to ask.
    public var interfaces: InterfaceFilter
    /// The only IP family to ask over; nil for both.
    public var family: IPAddress.Family?

    /// Creates a query.
    public init(domain: Domain = .local, interfaces: InterfaceFilter = .all, family: IPAddress.Family? = nil) {
        (self.domain, self.interfaces, self.family) = (domain, interfaces, family)
    }
}

/// A question for domains.
public struct DomainQuery: Hashable, Sendable {
    /// What domains are recommended for (RFC 6763 §11).
    public enum Purpose: Hashable, Sendable, CaseIterable {
        /// Looking for services (`b._dns-sd._udp`).
        case browsing
        /// Publishing services (`r._dns-sd._udp`).
        case registration
    }

    /// What the domains are recommended for.
    public var purpose: Purpose
    /// The domains whose recommendations are asked for; `local` stands for the link. If empty, those of the link and,
    /// if DNS servers are asked, of this host's search domains and networks.
    public var recommenders: [Domain]
    /// Where to ask.
    public var interfaces: InterfaceFilter

    /// Creates a query.
    public init(_ purpose: Purpose, of recommenders: [Domain] = [], interfaces: InterfaceFilter = .all) {
        (self.purpose, self.recommenders, self.interfaces) = (purpose, recommenders, interfaces)
    }
}
