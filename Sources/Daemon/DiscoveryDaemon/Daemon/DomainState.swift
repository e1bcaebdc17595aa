package import DNSSD
internal import DiscoveryJSON

/// How a domain stands that DNS servers serve.
package struct DomainState: Hashable, Sendable {
    /// How publishing stands there.
    package enum State: String, Hashable, Sendable, CaseIterable {
        /// Nothing is published: there is no key, or nothing to publish.
        case idle
        /// The server has not answered yet.
        case starting
        /// The server has taken the lease.
        case held
        /// The server does not answer.
        case waiting
        /// The server refuses.
        case refused
    }

    /// Its name.
    package var domain: Domain
    /// There is a key for it.
    package var publishes: Bool
    /// The server that takes updates; nil while that is not known.
    package var server: String?
    /// The name of the key.
    package var key: String?
    /// How publishing stands.
    package var state = State.idle
    /// Why, where it is not held.
    package var reason: String?
    /// How long what is published outlives the daemon.
    package var lease: Duration
    /// How long the lease runs that the server has taken.
    package var leaseLeft: Duration?
    /// Services that are published there.
    package var services = 0
    /// Updates that were sent, and how many were refused or not answered.
    package var updates = 0
    package var failures = 0
    /// Machines that had gone and were taken back.
    package var reaped = 0

    package init(_ domain: Domain, publishes: Bool, server: String?, lease: Duration) {
        self.domain = domain
        self.publishes = publishes
        self.server = server
        self.lease = lease
    }
}

extension JSONWriter {
    /// - Parameter inFull: with the server, its key and why it refuses.
    mutating func domain(_ domain: DomainState, inFull: Bool) {
        object { object in
            object.member("name", domain.domain.text)
            object.member("publishes", domain.publishes)
            object.member("state", domain.state.rawValue)
            object.member("leaseSeconds", Int(domain.lease.components.seconds))
            if let left = domain.leaseLeft { object.member("leaseLeftSeconds", Int(left.components.seconds)) }
            object.member("services", domain.services)
            guard inFull else { return }
            if let server = domain.server { object.member("server", server) }
            if let key = domain.key { object.member("key", key) }
            if let reason = domain.reason { object.member("reason", reason) }
        }
    }
}

extension PrometheusText {
    mutating func domains(_ domains: [DomainState]) {
        guard !domains.isEmpty else { return }
        describe("discoverd_domain_state", .gauge, "1 for the state that a domain of DNS servers is in.")
        for domain in domains {
            for state in DomainState.State.allCases {
                sample(
                    "discoverd_domain_state", [("domain", domain.domain.text), ("state", state.rawValue)],
                    domain.state == state ? 1 : 0)
            }
        }
        counter("discoverd_domain_updates_total", "Updates that were sent to a domain's server.", domains, \.updates)
        counter(
            "discoverd_domain_update_failures_total", "Updates that were refused or not answered.", domains, \.failures)
        counter(
            "discoverd_domain_reaped_total", "Machines that had gone and were taken back.", domains, \.reaped)
    }

    private mutating func counter(
        _ name: String, _ help: String, _ domains: [DomainState], _ value: KeyPath<DomainState, Int>
    ) {
        describe(name, .counter, help)
        for domain in domains { sample(name, [("domain", domain.domain.text)], Double(domain[keyPath: value])) }
    }
}
