import DNSMessage
package import DNSSD
import Discovery
import DiscoverySystem

/// Publishes in the domains that have a key, with a `ZoneRunner` for each domain and host.
final class UnicastPublisher: Sendable {
    /// Finds the server of a domain's zone.
    typealias Locate = @Sendable (Domain, ServerName?) async throws(DiscoveryError) -> ZoneLocation

    /// A host in a domain. Each has a lease of its own.
    private struct Place: Hashable {
        let domain: Domain
        /// Nil for this machine.
        let host: String?
    }

    private struct State {
        var domains: [DomainSettings]
        var runners: [Place: ZoneRunner] = [:]
        var identity: PublisherIdentity?
        var isOver = false
    }

    private let exchange: any DNSExchange
    private let time: any TimeSource
    private let locate: Locate
    private let directory: String?
    private let machine: String?
    private let state: Locked<State>
    /// Held while the identity is made, which takes the time of files: nobody else waits for that.
    private let making = Locked(())

    /// - Parameters:
    ///   - domains: the settings; the longest domain that contains a service's counts.
    ///   - exchange: carries the messages.
    ///   - time: the clock.
    ///   - directory: where the publisher's id is kept; nil for nowhere.
    ///   - machine: an id that a copy of this machine does not have; nil if it is not known.
    ///   - locate: finds the server of a domain's zone.
    init(
        domains: [DomainSettings], exchange: any DNSExchange, time: any TimeSource = SystemTime(),
        directory: String?, machine: String? = UnicastPublisher.machineID, locate: @escaping Locate
    ) {
        state = Locked(State(domains: domains))
        self.exchange = exchange
        self.time = time
        self.directory = directory
        self.machine = machine
        self.locate = locate
    }

    func publishes(in domain: Domain) -> Bool { state.withLock { $0.domains.covering(domain)?.key != nil } }

    /// Signs with other keys from the next message on.
    /// - Returns: the domains whose key is another than before.
    func replaceKeys(_ keys: [Domain: TSIGKey]) -> [Domain] {
        let (changed, runners) = state.withLock { state in
            var changed: [Domain] = []
            for (index, old) in state.domains.enumerated() {
                guard let key = keys[old.domain], key != old.key else { continue }
                state.domains[index].key = key
                changed.append(old.domain)
            }
            return (changed, state.runners.values.map { ($0, state.domains.covering($0.domain)?.key) })
        }
        for (runner, key) in runners { if let key { runner.use(key) } }
        return changed
    }

    var zones: [ZoneStatus] {
        state.withLock { $0.runners.values.map(\.self) }.map(\.status).sorted { $0.domain < $1.domain }
    }

    var troubles: [String] {
        let reason = state.withLock { $0.identity?.reason }
        return reason.map {
            [
                "this machine's id in the zone cannot be kept, so that after a crash its services get other names until their lease ends: \($0)"
            ]
        } ?? []
    }

    /// Publishes a service; see `ServicePublisher`.
    /// - Parameters:
    ///   - service: the service.
    ///   - host: the host that offers it; nil for this machine.
    ///   - onConflict: what to do if its name is taken.
    ///   - isPersistent: whether to try again after every refusal.
    ///   - reporting: receives the facts.
    func publish(
        _ service: OfferedService, on host: ZoneHost?, onConflict: ConflictPolicy, isPersistent: Bool,
        reporting: @escaping @Sendable (PublicationFact) -> Void
    ) -> any PublicationOperation {
        let failed: (DiscoveryError) -> any PublicationOperation = { error in
            SingleReport { reporting(PublicationFact(name: service.name, state: .failed(error))) }
        }
        #if Unicast
        guard publishes(in: service.domain) else {
            return failed(.init(.misconfigured, "there is no key for the domain \(service.domain)"))
        }
        guard service.host.map({ $0.isAlias && host == nil }) ?? true else {
            return failed(.init(.misconfigured, "in \(service.domain) only services of this machine are published"))
        }
        if let fault = service.aliasFault { return failed(fault) }
        let identity = identity()
        // Under the lock, because an idle runner is dropped when another one is made, keys are replaced, and what comes when everything is
        // being withdrawn would stay.
        let (publication, isOver) = state.withLock { state -> (Ending?, Bool) in
            guard !state.isOver else { return (nil, true) }
            let publication = runner(for: service.domain, identity, host, &state).map { runner in
                let number = runner.publish(
                    service, onConflict: onConflict, isPersistent: isPersistent, reporting: reporting)
                Self.chooseWatcher(of: service.domain, in: state)
                return Ending(
                    { runner.withdraw(number) },
                    waiting: { limit in
                        runner.withdraw(number)
                        return await runner.isGone(number, within: limit)
                    },
                    change: { port, txt in
                        runner.update(number) { service in
                            if let port { service.port = port }
                            service.txt = txt
                        }
                    })
            }
            return (publication, false)
        }
        guard !isOver else { return failed(.init(.closed, "publishing in \(service.domain) has ended")) }
        return publication
            ?? failed(
                service.wildcardFault
                    ?? .init(.invalidDomain, "the domain \(service.domain) is too long to publish in"))
        #else
        return failed(.init(.misconfigured, "publishing in \(service.domain) needs the package's trait Unicast"))
        #endif
    }

    private func runner(
        for domain: Domain, _ identity: PublisherIdentity, _ other: ZoneHost?, _ state: inout State
    ) -> ZoneRunner? {
        let place = Place(domain: domain, host: other?.identity)
        if let runner = state.runners[place] {
            if let other { runner.use(other.addresses) }
            return runner
        }
        guard let layout = ZoneLayout(domain), var settings = state.domains.covering(domain) else {
            return nil
        }
        // Drops idle runners, because hosts and domains come and go.
        state.runners = state.runners.filter { $0.value.hasAnything }
        // A copied machine is another publisher.
        let own = machine.map(identity.id.derived) ?? identity.id
        if let other { settings.addresses = other.addresses.sorted() }
        var rules = ZonePublisher(
            layout, id: other.map { own.derived(for: $0.identity) } ?? own, isKnown: identity.isKnown,
            host: other?.label ?? settings.host ?? ServiceName.ofThisMachine().text.lowercased(),
            ttl: UInt32(min(max(settings.ttl.components.seconds, 1), 86_400)),
            leaseSeconds: Int(clamping: settings.lease.components.seconds), seed: UInt64.random(in: 0 ... .max))
        rules.watches = false
        let runner = ZoneRunner(
            rules, settings: settings, exchange: exchange, time: time,
            noteReaped: { [weak self] in self?.retry(in: domain) },
            noteIdle: { [weak self] in self?.state.withLock { Self.chooseWatcher(of: domain, in: $0) } },
            locate: { [locate, server = settings.server] () async throws(DiscoveryError) -> ZoneLocation in
                try await locate(domain, server)
            })
        state.runners[place] = runner
        return runner
    }

    private func identity() -> PublisherIdentity {
        making.withLock { _ in
            if let known = state.withLock({ $0.identity }) { return known }
            let made = PublisherIdentity(directory: directory)
            state.withLock { $0.identity = made }
            return made
        }
    }

    /// Lets one busy runner of a domain take back what others have left: one is enough.
    private static func chooseWatcher(of domain: Domain, in state: State) {
        let busy = state.runners.filter { $0.key.domain == domain && $0.value.hasAnything }.values
        if !busy.contains(where: \.watches) { busy.first?.watch() }
    }

    /// The hosts whose runners take back what others have left, for tests; nil for this machine.
    func watchers(of domain: Domain) -> [String?] {
        state.withLock { state in
            state.runners.filter { $0.key.domain == domain && $0.value.watches }.map(\.key.host)
        }
    }

    /// This machine's id (machine-id(5)); nil if it is not known.
    static let machineID = (try? SystemFile.read("/etc/machine-id", atMost: 64)).flatMap {
        $0.isEmpty ? nil : String(decoding: $0, as: UTF8.self)
    }

    /// One runner of a domain takes back what others have left; all of them may want the names.
    private func retry(in domain: Domain) {
        for (place, runner) in state.withLock({ $0.runners }) where place.domain == domain { runner.retry() }
    }

    /// Publishes other addresses of a host for which services are published.
    func became(_ host: ZoneHost, in domain: Domain) {
        state.withLock { $0.runners[Place(domain: domain, host: host.identity)] }?.use(host.addresses)
    }

    @discardableResult
    func shutdown() async -> Bool {
        let runners = state.withLock { state in
            state.isOver = true
            return Array(state.runners.values)
        }
        return await runners.allSucceed { await $0.shutdown(patience: .milliseconds(1800), rounds: 4) }
    }

    /// Whether `shutdown` has begun, and still takes records back.
    var isEnding: Bool { state.withLock { $0.isOver ? Array($0.runners.values) : [] }.contains { !$0.isOver } }
}

/// A host other than this machine, whose services a gateway publishes.
package struct ZoneHost: Hashable, Sendable {
    /// Its name on the link, which identifies it within the gateway, even after a restart. It never reaches the zone.
    package var identity: String
    /// The first label of its name in the zone.
    package var label: String
    /// Its addresses; at least one.
    package var addresses: Set<IPAddress>

    package init(identity: String, label: String, addresses: Set<IPAddress>) {
        self.identity = identity
        self.label = label
        self.addresses = addresses
    }
}
