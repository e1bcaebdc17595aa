public import DNSSD

/// The data of a service at one origin. A new resolution replaces the earlier one at its origin.
///
/// Copies share their storage, so a finder and a catalog can both keep one cheaply.
public struct Resolution: Hashable, Sendable {
    /// An SRV record with the addresses of its target.
    public struct Target: Hashable, Sendable {
        /// The SRV target.
        public var host: HostName
        /// The SRV port; nil for 0.
        public var port: Port?
        /// The SRV priority; lower values are tried first (RFC 2782).
        public var priority: UInt16
        /// The SRV weight: how often the target comes first among those of its priority (RFC 2782).
        public var weight: UInt16
        /// The host's addresses; link-local ones have their scope.
        public var addresses: [IPAddress]

        /// Creates a target.
        public init(
            host: HostName, port: Port?, priority: UInt16 = 0, weight: UInt16 = 0, addresses: [IPAddress]
        ) {
            (self.host, self.port, self.priority) = (host, port, priority)
            (self.weight, self.addresses) = (weight, addresses)
        }
    }

    private struct Parts: Hashable, Sendable {
        let instance: ServiceInstance
        let origin: Origin
        var target: Target
        var alternatives: [Target]
        var answer: ServiceAnswer
        var sender: UInt16?
        var subtypes: [String] = []
    }

    private var shared: Shared<Parts>

    private var parts: Parts {
        _read { yield shared.value }
        _modify { yield &shared.value }
    }

    /// Creates a resolution.
    public init(
        instance: ServiceInstance, origin: Origin, target: Target, alternatives: [Target] = [], txt: TXTRecord,
        isAuthenticated: Bool = false, withheld: String? = nil
    ) {
        shared = Shared(
            Parts(
                instance: instance, origin: origin, target: target, alternatives: alternatives,
                answer: ServiceAnswer(txt: txt, isAuthenticated: isAuthenticated, withheld: withheld)))
    }

    /// The service.
    public var instance: ServiceInstance { parts.instance }
    /// Where the data was learned.
    public var origin: Origin { parts.origin }

    /// The SRV record; the one with the lowest priority if there are several.
    public var target: Target {
        get { parts.target }
        set { parts.target = newValue }
    }

    /// Further SRV records, which RFC 6763 §5 permits; they are rare.
    public var alternatives: [Target] {
        get { parts.alternatives }
        set { parts.alternatives = newValue }
    }

    /// What was learned apart from where it is.
    package var answer: ServiceAnswer {
        get { parts.answer }
        set { parts.answer = newValue }
    }

    /// The TXT record.
    public var txt: TXTRecord {
        get { parts.answer.txt }
        set { parts.answer.txt = newValue }
    }

    /// Whether DNSSEC vouches for all of it (RFC 4035 §3.2.3), according to a resolver that is trusted.
    public var isAuthenticated: Bool {
        get { parts.answer.isAuthenticated }
        set { parts.answer.isAuthenticated = newValue }
    }

    /// Why there is no address, for people, if a resolver withholds the addresses; otherwise nil.
    public var withheld: String? {
        get { parts.answer.withheld }
        set { parts.answer.withheld = newValue }
    }

    /// A number for its announcer on the link; nil if unknown. Host names cost nothing, so a full list goes by this.
    package var sender: UInt16? {
        get { parts.sender }
        set { parts.sender = newValue }
    }

    /// The subtypes under which it was seen; it may have others.
    package var subtypes: [String] {
        get { parts.subtypes }
        set { parts.subtypes = newValue }
    }
}

extension Resolution {
    /// The host of `target`.
    public var host: HostName { target.host }
    /// The port of `target`; nil for 0.
    public var port: Port? { target.port }
    /// The addresses of all targets.
    public var addresses: [IPAddress] { target.addresses + alternatives.flatMap(\.addresses) }

    /// All SRV records, by priority.
    public var targets: [Target] {
        alternatives.isEmpty
            ? [target]
            : ([target] + alternatives).enumerated().sorted { one, other in
                (one.element.priority, one.offset) < (other.element.priority, other.offset)
            }.map(\.element)
    }
}

extension Resolution {
    /// The most SRV records kept per service.
    private static var targetLimit: Int { 8 }

    /// Drops what exceeds the bounds.
    /// - Returns: whether addresses were dropped.
    mutating func bound(addressesPerHost limit: Int) -> Bool {
        if alternatives.count >= Self.targetLimit { alternatives = Array(alternatives.prefix(Self.targetLimit - 1)) }
        var isOver = target.addresses.count > limit
        if isOver { _ = target.bound(addresses: limit) }
        for index in alternatives.indices { isOver = alternatives[index].bound(addresses: limit) || isOver }
        return isOver
    }
}

extension Resolution.Target {
    fileprivate mutating func bound(addresses limit: Int) -> Bool {
        guard addresses.count > limit else { return false }
        addresses = Array(addresses.sorted().prefix(limit))
        return true
    }
}
