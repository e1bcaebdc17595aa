import DNSMessage
import DNSSD
import Discovery
import Records
import Responder

// What is published: `Registration` decides for each service, as for every publisher, and `SimulatedLinks` who has its name.
extension SimulatedWorld {
    /// When a refused service is tried again.
    var nextRetry: Duration? {
        operations.values.lazy.compactMap { operation -> Duration? in
            guard case .publication(let publication) = operation.kind else { return nil }
            return publication.retry
        }.min()
    }

    /// Brings a publication up to date with its machine.
    mutating func publish(_ id: UInt64) {
        guard let operation = operations[id], case .publication(let publication) = operation.kind,
            let machine = machines[operation.machine]
        else { return }
        guard domains.contains(where: { publication.service.domain.isWithin($0) }) else {
            let text = "the simulated network has no domain \(publication.service.domain)"
            let fact = PublicationFact(
                name: publication.service.name, state: .failed(DiscoveryError(.invalidDomain, text)))
            report(id) { publication.report(fact) }
            return end(id)
        }
        let isDue = publication.retry.map { $0 <= now } ?? false
        if isDue { edit(id) { $0.retry = nil } }
        guard machine.isUp else { return stop(id, machine) }
        if operation.backend != .up {
            operations[id]?.backend = .up
            return change(id) { $0.publishing(true) }
        }
        if publication.registration.isRegistered {
            if haveLinksChanged || publication.isChanged { claim(id, on: machine) }
        } else if mayRetry || isDue {
            change(id) { $0.retryIsDue() }
        }
    }

    private mutating func stop(_ id: UInt64, _ machine: SimulatedMachine) {
        guard operations[id]?.backend?.reason == nil else { return }
        operations[id]?.backend = .down("stopped")
        let isForgotten = machine.backend != .down(saidGoodbye: false)
        edit(id) { publication in
            // Without a goodbye the others still see it.
            if isForgotten { publication.isEstablished = false }
            publication.retry = nil
        }
        leaveLinks(id)
        change(id) { $0.disconnected("the simulated backend is not running") }
    }

    /// Ends an operation.
    mutating func end(_ id: UInt64) {
        leaveLinks(id)
        operations[id] = nil
    }

    private mutating func leaveLinks(_ id: UInt64) {
        guard case .publication(let publication) = operations[id]?.kind else { return }
        links.withdraw(id, at: publication.sites.keys)
        edit(id) { $0.sites = [:] }
    }

    private mutating func edit(_ id: UInt64, _ body: (inout SimulatedOperation.Publication) -> Void) {
        guard case .publication(var publication) = operations[id]?.kind else { return }
        body(&publication)
        operations[id]?.kind = .publication(publication)
    }

    // MARK: What the registration decides

    private mutating func change(_ id: UInt64, _ event: (inout Registration) -> [Registration.Action]) {
        var actions: [Registration.Action] = []
        edit(id) { actions = event(&$0.registration) }
        for action in actions {
            guard case .publication(let publication) = operations[id]?.kind else { return }
            switch action {
            case .register: register(id)
            case .reset:
                leaveLinks(id)
                edit(id) { $0.isEstablished = false }
            case .retry(let delay): edit(id) { [now] in $0.retry = now + delay }
            case .report(let fact):
                if fact.state == .established { edit(id) { ($0.isEstablished, $0.retry) = (true, nil) } }
                report(id) { publication.report(fact) }
            case .end: end(id)
            }
        }
    }

    private mutating func register(_ id: UInt64) {
        guard let operation = operations[id], let machine = machines[operation.machine] else { return }
        edit(id) { $0.isEstablished = false }
        if let refusal = machine.refusal { return change(id) { [now] in $0.failed(refusal, at: now) } }
        change(id) { [now] in $0.changed(to: .registering, at: now) }
        claim(id, on: machine)
    }

    /// Claims a service's names where it is to be, and leaves the other links.
    private mutating func claim(_ id: UInt64, on machine: SimulatedMachine) {
        guard case .publication(let publication) = operations[id]?.kind else { return }
        let sites = self.sites(of: publication.service, on: machine)
        links.withdraw(id, at: publication.sites.keys.filter { !sites.contains($0) })
        for site in sites {
            var claims = Claim.all(
                of: publication.service, as: publication.registration.name, number: id, own: site.addresses)
            // A name of a server's zone is nobody's to claim.
            if machine.label == nil, let host = try? DomainName(presentation: machine.host.text) {
                for index in claims.indices where claims[index].claim.after == .host {
                    claims[index].claim.point(to: host)
                }
            }
            links.claim(claims, host: machine.label, at: site, of: id)
        }
        edit(id) { publication in
            publication.isChanged = false
            publication.sites = Dictionary(uniqueKeysWithValues: sites.map { ($0, publication.sites[$0] ?? false) })
        }
    }

    /// The links on which a service is claimed: those of its machine; one that nobody hears if there is none.
    private func sites(of service: OfferedService, on machine: SimulatedMachine) -> [SimulatedLinks.Site] {
        let alone = SimulatedLinks.Site(machine: machine.name, link: "lo of \(machine.name)", addresses: [])
        guard !isUnicast else {
            let addresses = machine.usable.flatMap(\.addresses).filter { !$0.isLoopback && !$0.isLinkLocal }
            return [SimulatedLinks.Site(machine: machine.name, link: "server", addresses: addresses)]
        }
        let joined = machine.usable.filter { $0.link != nil && service.interfaces.allows($0.interface.name) }
        let links = Dictionary(grouping: joined) { $0.link ?? "" }.sorted { $0.key < $1.key }
        guard !links.isEmpty else { return [alone] }
        return links.map { link, interfaces in
            let addresses = interfaces.flatMap(\.addresses).map { $0.masked(to: 128) }
            return SimulatedLinks.Site(machine: machine.name, link: link, addresses: addresses)
        }
    }

    // MARK: What the links decide

    /// The machines that publish by another name than their first, and when they ask for that.
    private var asking: [(machine: String, due: Duration)] {
        Set(operations.values.lazy.filter { if case .publication = $0.kind { true } else { false } }.map(\.machine))
            .compactMap { name in machines[name]?.label?.asksAgain.map { (name, $0) } }
    }

    /// When a machine asks for its first name again.
    var nextAsking: Duration? { asking.lazy.map(\.due).min() }

    mutating func askForFirstNames() {
        for (machine, due) in asking.sorted(by: { $0 < $1 }) where due <= now { rename(machine) { $0.ask() } }
    }

    private mutating func rename(_ machine: String, _ event: (inout HostLabel) -> Void) {
        guard var label = machines[machine]?.label else { return }
        event(&label)
        machines[machine]?.label = label
        if let name = label.name, let host = try? HostName(name.presentation) { machines[machine]?.host = host }
        links.rename(machine, label)
    }

    /// Machines hear each other again, or not any more.
    mutating func meetAgain() {
        links.segments = machines.mapValues(\.segment)
        links.announceAgain()
        mayRetry = true
    }

    mutating func claimOutside(_ instance: ServiceInstance) {
        if let name = DomainName(instance) { links.claimOutside(name) }
    }

    mutating func releaseOutside(_ instance: ServiceInstance) {
        if let name = DomainName(instance) { links.releaseOutside(name) }
        mayRetry = true
    }

    mutating func settle() {
        while true {
            let facts = links.settle(until: now)
            guard !facts.isEmpty else { return }
            for (site, fact) in facts where links.isStill(fact, at: site) { became(fact, at: site) }
        }
    }

    private mutating func became(_ fact: LinkResponder.Fact, at site: SimulatedLinks.Site) {
        switch fact {
        case .established(.host): break
        case .lost(.host): rename(site.machine) { [now] in $0.lost(at: now) }
        case .established(.firstName):
            guard machines[site.machine]?.label?.asked != nil, links.takeFirstName(site.machine) else { return }
            rename(site.machine) { [now] in $0.returned(at: now) }
        case .lost(.firstName): rename(site.machine) { [now] in $0.refused(at: now) }
        case .established(.service(let id)), .established(.other(let id)):
            guard case .publication(let publication) = operations[id]?.kind,
                fact == .established(publication.service.isAddressRecord ? .other(id) : .service(id))
            else { return }
            edit(id) { $0.sites[site] = true }
            guard publication.sites.allSatisfy({ $0.value || $0.key == site }) else { return }
            change(id) { [now] in $0.changed(to: .established, at: now + Registration.probing) }
        case .gaveWay(.service(let id)), .gaveWay(.other(let id)): change(id) { $0.gaveWay() }
        case .gaveWay(.host), .gaveWay(.firstName): break
        case .lost(.service(let id)): change(id) { [now] in $0.changed(to: .collision, at: now) }
        case .lost(.other(let id)):
            guard case .publication(let publication) = operations[id]?.kind else { return }
            if publication.service.isAlias { return change(id) { [now] in $0.changed(to: .collision, at: now) } }
            let name = publication.service.host?.name.text ?? ""
            let error = DiscoveryError(.nameTaken, "another host is called \(name)")
            change(id) { $0.hostIsTaken(error) }
        }
    }
}
