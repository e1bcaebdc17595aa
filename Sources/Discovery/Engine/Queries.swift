public import DNSSD

/// A question for services: all of a type, or one by name.
public struct ServiceQuery: Hashable, Sendable {
    /// What is asked for.
    public enum Target: Hashable, Sendable {
        /// Every instance of a type, perhaps of one subtype.
        case type(ServiceType, Domain)
        /// One instance by name, without browsing for its type.
        case instance(ServiceInstance)
    }

    /// Whether services are resolved, and for how long.
    public enum Resolution: Hashable, Sendable {
        /// Names only.
        case none
        /// Once; later changes are not looked for.
        case once
        /// As long as the query lives: changes of port, TXT and addresses are reported.
        case watch
    }

    /// What is asked for.
    public var target: Target
    /// Where to ask.
    public var interfaces: InterfaceFilter
    /// Ask over, and report addresses of, IPv4 or IPv6 only.
    public var family: IPAddress.Family?
    /// Whether to resolve.
    public var resolution: Resolution

    /// Creates a query.
    public init(
        _ target: Target, interfaces: InterfaceFilter = .all, family: IPAddress.Family? = nil,
        resolution: Resolution = .watch
    ) {
        self.target = target
        self.interfaces = interfaces
        self.family = family
        self.resolution = resolution
    }
}

extension ServiceQuery {
    /// Where the services are: a question has one domain.
    public var domain: Domain {
        switch target {
        case .type(_, let domain): domain
        case .instance(let instance): instance.domain
        }
    }
}

/// A question for service types.
public struct TypeQuery: Hashable, Sendable {
    /// Where the services are.
    public var domain: Domain
    /// Where to ask.
    public var interfaces: InterfaceFilter
    /// Ask over IPv4 or IPv6 only.
    public var family: IPAddress.Family?

    /// Creates a query.
    public init(domain: Domain = .local, interfaces: InterfaceFilter = .all, family: IPAddress.Family? = nil) {
        self.domain = domain
        self.interfaces = interfaces
        self.family = family
    }
}

/// A question for domains.
public struct DomainQuery: Hashable, Sendable {
    /// What the domain is to be used for.
    public enum Purpose: Hashable, Sendable, CaseIterable {
        /// Looking for services (`b._dns-sd._udp`).
        case browsing
        /// Publishing them (`r._dns-sd._udp`).
        case registration
    }

    /// What the domain is to be used for.
    public var purpose: Purpose
    /// Where to ask.
    public var interfaces: InterfaceFilter

    /// Creates a query.
    public init(_ purpose: Purpose, interfaces: InterfaceFilter = .all) {
        self.purpose = purpose
        self.interfaces = interfaces
    }
}
