public import DNSSD
public import Discovery

extension ServiceQuery {
    /// The parameters that the daemon understands: `type`, `name`, `domain`, `interface` (repeated), `family`,
    /// `resolve`.
    public var queryString: QueryString {
        var text = QueryString()
        switch target {
        case .type(let type, let domain):
            text.add(type)
            text.add("domain", domain.text)
        case .instance(let instance):
            text.add(instance)
        }
        text.add(interfaces, family)
        text.add(resolution)
        return text
    }
}

extension QueryString {
    /// Adds a service's name, type and domain.
    mutating func add(_ instance: ServiceInstance) {
        add("name", instance.name.text)
        add(instance.type)
        add("domain", instance.domain.text)
    }

    /// Adds the interfaces and the family.
    public mutating func add(_ interfaces: InterfaceFilter, _ family: IPAddress.Family?) {
        for pattern in interfaces.patterns { add("interface", pattern) }
        if let family { add("family", family.rawValue) }
    }

    /// Adds whether to resolve.
    public mutating func add(_ resolution: ServiceQuery.Resolution) {
        switch resolution {
        case .none: add("resolve", "0")
        case .once: add("resolve", "once")
        case .watch: add("resolve", "1")
        }
    }

    /// The type; nil if there is none. With `observed=1` it was seen on the network, where types occur that may not be
    /// published.
    public func type() throws(DiscoveryError) -> ServiceType? {
        guard let text = self["type"], !text.isEmpty else { return nil }
        guard try isObserved() else { return try ServiceType(named: text) }
        guard let type = ServiceType(observed: text) else { return try ServiceType(named: text) }
        return type
    }

    private func isObserved() throws(DiscoveryError) -> Bool {
        switch self["observed"] {
        case nil, "", "0": return false
        case "1": return true
        case .some(let text):
            throw DiscoveryError(
                DiscoveryError.Code("invalid-request"), "observed=\(text.quotedForMessage): it must be 0 or 1")
        }
    }

    fileprivate mutating func add(_ type: ServiceType) {
        add("type", type.description)
        if type.breach != nil { add("observed", "1") }
    }

    /// The domain; `local` by default.
    public func domain() throws(DiscoveryError) -> Domain {
        guard let text = self["domain"], !text.isEmpty else { return .local }
        if let domain = Domain(observed: text) { return domain }
        return try Domain(text)
    }

    /// The interfaces.
    public func interfaces() throws(DiscoveryError) -> InterfaceFilter { try InterfaceFilter(all("interface")) }

    /// The only family to ask for; nil for both.
    public func family() throws(DiscoveryError) -> IPAddress.Family? {
        guard let text = self["family"] else { return nil }
        guard let family = IPAddress.Family(rawValue: text) else {
            throw DiscoveryError(.invalidAddress, "family=\(text.quotedForMessage): it must be ipv4 or ipv6")
        }
        return family
    }

    /// Whether to resolve; yes by default.
    public func resolution() throws(DiscoveryError) -> ServiceQuery.Resolution {
        switch self["resolve"] {
        case nil, "", "1", "true", "yes", "watch": return .watch
        case "0", "false", "no", "none": return .none
        case "once": return .once
        case .some(let text):
            throw DiscoveryError(
                DiscoveryError.Code("invalid-request"), "resolve=\(text.quotedForMessage): it must be 0, 1 or once")
        }
    }
}
