/// One service on the network, with all its interfaces and addresses.
///
/// Copies share their storage: catalog, change log and readers each keep one of every service.
public struct DiscoveredService: Hashable, Sendable {
    /// How much is known of a service, and whether it can be reached.
    public enum State: String, Hashable, Sendable {
        /// The service was seen, but has not been resolved or is not to be.
        case found
        /// Host, port, TXT and addresses are known.
        case resolved
        /// The name is held but nothing is offered: the SRV port is 0 (RFC 6763 §8).
        case unavailable
        /// The service is announced but does not answer.
        case unreachable
    }

    private struct Parts: Hashable, Sendable {
        let instance: ServiceInstance
        var interfaces: [NetworkInterface]
        var subtypes: [String]
        var state: State
        var host: HostName?
        var port: Port?
        var endpoints: [Endpoint]
        var isOwn: Bool
        var answer: ServiceAnswer
    }

    private var parts: Shared<Parts>

    /// Creates a value.
    public init(
        instance: ServiceInstance,
        interfaces: [NetworkInterface] = [],
        subtypes: [String] = [],
        state: State = .found,
        host: HostName? = nil,
        port: Port? = nil,
        txt: TXTRecord = TXTRecord(),
        endpoints: [Endpoint] = [],
        isOwn: Bool = false,
        isAuthenticated: Bool = false,
        withheld: String? = nil
    ) {
        parts = Shared(
            Parts(
                instance: instance, interfaces: interfaces, subtypes: subtypes, state: state, host: host, port: port,
                endpoints: endpoints, isOwn: isOwn,
                answer: ServiceAnswer(txt: txt, isAuthenticated: isAuthenticated, withheld: withheld)))
    }
}

/// What is learned of a service apart from where it is: the part that what a finder reports (`Resolution`) and what a program sees
/// (`DiscoveredService`) have in common. docs/architecture.md shows what a new field takes.
package struct ServiceAnswer: Hashable, Sendable {
    /// The TXT record; empty if not resolved.
    package var txt: TXTRecord
    /// Whether DNSSEC vouches for all that was answered.
    package var isAuthenticated: Bool
    /// Why there is no address, for people, if a resolver withholds the addresses; otherwise nil.
    package var withheld: String?

    /// Creates a value.
    package init(txt: TXTRecord = TXTRecord(), isAuthenticated: Bool = false, withheld: String? = nil) {
        (self.txt, self.isAuthenticated, self.withheld) = (txt, isAuthenticated, withheld)
    }

    /// What the answers from several origins say together; the first counts most.
    package init(joining answers: [ServiceAnswer]) {
        self.init(
            txt: answers.first?.txt ?? TXTRecord(),
            isAuthenticated: !answers.isEmpty && answers.allSatisfy(\.isAuthenticated),
            withheld: answers.lazy.compactMap(\.withheld).first)
    }
}

extension DiscoveredService {
    /// The service's identity.
    public var instance: ServiceInstance { parts.value.instance }

    /// The interfaces on which it was seen, sorted; empty for a service from a DNS server.
    public var interfaces: [NetworkInterface] {
        _read { yield parts.value.interfaces }
        _modify { yield &parts.value.interfaces }
    }

    /// The subtype labels under which it was seen; it may have others.
    public var subtypes: [String] {
        _read { yield parts.value.subtypes }
        _modify { yield &parts.value.subtypes }
    }

    /// How much is known.
    public var state: State {
        _read { yield parts.value.state }
        _modify { yield &parts.value.state }
    }

    /// The host that offers it; nil if not resolved.
    public var host: HostName? {
        _read { yield parts.value.host }
        _modify { yield &parts.value.host }
    }

    /// The port; nil if not resolved or not offered.
    public var port: Port? {
        _read { yield parts.value.port }
        _modify { yield &parts.value.port }
    }

    /// Every place where it can be dialled.
    public var endpoints: [Endpoint] {
        _read { yield parts.value.endpoints }
        _modify { yield &parts.value.endpoints }
    }

    /// Whether this machine publishes it.
    public var isOwn: Bool {
        _read { yield parts.value.isOwn }
        _modify { yield &parts.value.isOwn }
    }

    /// What was learned of it apart from where it is.
    package var answer: ServiceAnswer {
        _read { yield parts.value.answer }
        _modify { yield &parts.value.answer }
    }

    /// The TXT record; empty if not resolved.
    public var txt: TXTRecord {
        get { answer.txt }
        set { answer.txt = newValue }
    }

    /// Whether DNSSEC vouches for its host, port, TXT record and addresses, according to a validating resolver that is
    /// on this machine or that /etc/resolv.conf trusts (`trust-ad`).
    public var isAuthenticated: Bool {
        get { answer.isAuthenticated }
        set { answer.isAuthenticated = newValue }
    }

    /// Why it has no address, for people, if a DNS resolver withholds its addresses; otherwise nil.
    public var withheld: String? {
        get { answer.withheld }
        set { answer.withheld = newValue }
    }
}

/// An event of a stream of services. `.changed`: the interfaces, addresses, port, TXT or state of a known one.
public typealias ServiceEvent = ListEvent<DiscoveredService>

/// An event of a list of things that come, change and go.
public enum ListEvent<Value: Hashable & Sendable>: Hashable, Sendable {
    /// One that was not known before.
    case found(Value)
    /// A known one is different.
    case changed(Value)
    /// One is gone; the value is its last known one.
    case lost(Value)
    /// Everything present at the start has been reported; later events are news. Comes once.
    case settled
    /// The backend answers, went away or came back. What is known is kept while it is away.
    case backend(BackendState)
    /// Something was left out, so later events may be incomplete; the text says what and why.
    case degraded(String)
}

/// Whether the backend answers, and whether it did before.
public enum BackendState: Hashable, Sendable {
    /// The backend answers.
    case available
    /// The backend has never answered; the reason is for people.
    case unavailable(String)
    /// The backend answered before and went away; the reason is for people.
    case lost(String)
    /// The backend went away and is back.
    case recovered
}

// How values read in a log, on one line; each is safe for a terminal.

extension DiscoveredService: Identifiable, CustomStringConvertible {
    /// The service's identity: a list of services keeps its place in it.
    public var id: ServiceInstance { instance }

    /// The full name, then what is known: `tony._witap._tcp.local at h1.local:9000 (10.0.0.7, fe80::1%eth0)`.
    public var description: String {
        guard let host, let port else { return "\(instance) (\(state.rawValue))" }
        var addresses: [String] = []
        for endpoint in endpoints where !addresses.contains(endpoint.addressText) {
            addresses.append(endpoint.addressText)
        }
        return "\(instance) at \(host):\(port) (\(addresses.joined(separator: ", ").escapedForTerminal))"
    }
}

extension OfferedService: Identifiable, CustomStringConvertible {
    /// The identity under the wanted name.
    public var id: ServiceInstance { instance }

    /// The full name and the port: `tony._witap._tcp.local port 9000`.
    public var description: String { "\(instance) port \(port)" }
}

extension ServiceEvent: CustomStringConvertible {
    /// What happened, and to whom: `found tony._witap._tcp.local at …`.
    public var description: String {
        switch self {
        case .found(let service): "found \(service)"
        case .changed(let service): "changed \(service)"
        case .lost(let service): "lost \(service.instance)"
        case .settled: "settled"
        case .backend(let state): "backend \(state)"
        case .degraded(let reason): "degraded: \(reason.escapedForTerminal)"
        }
    }
}

extension BackendState: CustomStringConvertible {
    /// The state, with the reason where there is one: `lost: avahi-daemon does not answer`.
    public var description: String {
        switch self {
        case .available: "available"
        case .unavailable(let reason): "unavailable: \(reason)"
        case .lost(let reason): "lost: \(reason)"
        case .recovered: "recovered"
        }
    }
}
