import DNSMessage
import DNSSD
import Discovery
import WireNames

// Host, port, text and addresses of one service.
extension ServiceBrowse {
    /// The most SRV records of one service that are used.
    private static var mostTargets: Int { 8 }
    /// The most addresses of one host that are reported.
    private static var mostAddresses: Int { 32 }
    /// The most hosts whose addresses are asked for.
    private static var mostHosts: Int { 4096 }

    var addressTypes: [RecordType] {
        switch query.family {
        case .ipv4: [.a]
        case .ipv6: [.aaaa]
        case nil: [.a, .aaaa]
        }
    }

    /// Reports news of a service, and asks for missing records.
    mutating func evaluate(_ name: DomainName, at now: Duration, jitter: Double) {
        guard query.resolution != .none, let service = services[name], !service.isDone,
            let srv = table[Question(name, .srv)], let txt = table[Question(name, .txt)], srv.isSettled
        else { return }
        let targets = Self.targets(of: srv)
        follow(targets.map(\.host), of: name, at: now, jitter: jitter)
        guard !targets.isEmpty else {
            if query.isForOne, case .nothing = srv.known { ended(name) } else { failed(name) }
            return
        }
        let hosts = services[name]?.hosts ?? []
        let isComplete = hosts.allSatisfy { host in
            addressTypes.allSatisfy { table[Question(host, $0)]?.isSettled != false }
        }
        guard txt.isSettled, isComplete else { return }
        guard let resolution = resolution(of: service.instance, targets, txt) else {
            failed(name)
            return
        }
        let isOffered = targets.contains { $0.port != 0 }
        // Without any answer about its hosts, nothing can be said about the service.
        if isOffered, resolution.addresses.isEmpty, hosts.allSatisfy(isUnknown) {
            failed(name)
            return
        }
        guard let isOwn = isOwn(name, resolution, at: now, jitter: jitter) else { return }
        tell(resolution, of: name, isOwn)
        noteWithheld(resolution.withheld, of: name)
        finish(name)
    }

    /// Whether this machine has published the service; nil while that is asked for. It matters where it is said to be at an
    /// address of this machine.
    private mutating func isOwn(
        _ name: DomainName, _ resolution: Resolution, at now: Duration, jitter: Double
    ) -> Bool? {
        guard let own, resolution.addresses.contains(where: own.isAddress) else { return false }
        let question = Question(name, .dhcid)
        table.want(question, at: now, jitter: jitter)
        guard let owner = table[question], owner.isSettled else { return nil }
        return own.has(name, owners: owner.records)
    }

    private mutating func tell(_ resolution: Resolution, of name: DomainName, _ isOwn: Bool) {
        guard var service = services[name] else { return }
        if !service.isTold || service.isOwn != isOwn {
            (service.isTold, service.isOwn) = (true, isOwn)
            facts.append(.appeared(service.sighting))
        }
        if service.resolution != resolution || service.isFailing { facts.append(.resolved(resolution)) }
        (service.resolution, service.isFailing) = (resolution, false)
        services[name] = service
    }

    /// The service is listed, but its records do not suffice to dial it.
    private mutating func failed(_ name: DomainName) {
        guard let service = services[name], !service.isFailing else { return }
        services[name]?.isFailing = true
        // Its last resolution is kept.
        if service.isTold { facts.append(.resolutionFailed(service.instance, .unicast)) }
    }

    /// The one service that was asked for does not exist.
    private mutating func ended(_ name: DomainName) {
        guard let service = services[name], service.isTold else { return }
        services[name] = Service(instance: service.instance)
        facts.append(.withdrawn(Sighting(instance: service.instance, origin: .unicast, family: nil)))
    }

    /// Stops asking for a service that is to be resolved only once.
    private mutating func finish(_ name: DomainName) {
        guard query.resolution == .once, let service = services[name], !service.isFailing else { return }
        services[name]?.isDone = true
        guard !query.isForOne else { return }
        stopAsking(name, service)
        services[name]?.hosts = []
    }

    // MARK: Hosts

    private mutating func follow(_ hosts: [DomainName], of name: DomainName, at now: Duration, jitter: Double) {
        let old = services[name]?.hosts ?? []
        guard hosts != old else { return }
        for host in old where !hosts.contains(host) { release(host, by: name) }
        var followed: [DomainName] = []
        for host in hosts where !followed.contains(host) {
            guard users[host] != nil || users.count < Self.mostHosts else { continue }
            followed.append(host)
            users[host, default: []].insert(name)
            for type in addressTypes { table.want(Question(host, type), at: now, jitter: jitter) }
        }
        services[name]?.hosts = followed
    }

    mutating func release(_ host: DomainName, by name: DomainName) {
        users[host]?.remove(name)
        guard users[host]?.isEmpty == true else { return }
        users[host] = nil
        for type in [RecordType.a, .aaaa] { table.drop(Question(host, type)) }
    }

    private func isUnknown(_ host: DomainName) -> Bool {
        addressTypes.allSatisfy { table[Question(host, $0)].map { $0.known == .unknown } ?? true }
    }

    /// Returns why none of the hosts has an address, if a resolver seems to withhold them: a host exists, and only the
    /// zone's own server could say that it has no address.
    private func withheld(_ hosts: [DomainName]) -> String? {
        let host = hosts.first { host in
            addressTypes.count == 2
                && addressTypes.allSatisfy { type in
                    guard let polled = table[Question(host, type)] else { return false }
                    return polled.known == .nothing(nameExists: true) && !polled.isAuthoritative
                }
        }
        return host.map { host in
            "\(host.shown) is there, but the resolver tells no address of it: protection against rebinding withholds private ones "
                + "(dnsmasq: rebind-domain-ok; Unbound: private-domain)"
        }
    }

    private mutating func noteWithheld(_ reason: String?, of name: DomainName) {
        guard let reason else {
            withholding.remove(name)
            return
        }
        if withholding.insert(name).inserted { facts.append(.degraded(reason)) }
    }

    // MARK: Reading

    private typealias ServiceTarget = (priority: UInt16, weight: UInt16, port: UInt16, host: DomainName)

    /// Returns the targets, lowest priority first, in an order that does not depend on the server's.
    private static func targets(of srv: PolledQuestion) -> [ServiceTarget] {
        let all = srv.records.compactMap { data -> ServiceTarget? in
            guard case .srv(let priority, let weight, let port, let host) = data, host != .root else { return nil }
            return (priority, weight, port, host)
        }
        let sorted = all.sorted {
            ($0.priority, $1.weight, $0.port) == ($1.priority, $0.weight, $1.port)
                ? $0.host.wire.lexicographicallyPrecedes($1.host.wire)
                : ($0.priority, $1.weight, $0.port) < ($1.priority, $0.weight, $1.port)
        }
        return Array(sorted.prefix(mostTargets))
    }

    private mutating func resolution(
        of instance: ServiceInstance, _ targets: [ServiceTarget], _ txt: PolledQuestion
    ) -> Resolution? {
        var all = targets.compactMap { target -> Resolution.Target? in
            guard let host = HostName(labels: target.host.labels) else { return nil }
            return Resolution.Target(
                host: host, port: Port(rawValue: target.port), priority: target.priority, weight: target.weight,
                addresses: addresses(of: target.host))
        }[...]
        guard let first = all.popFirst() else { return nil }
        // Several TXT records are not merged (RFC 6763 §6.8): always takes the same one.
        let texts = txt.records.compactMap { if case .txt(let bytes) = $0 { bytes } else { nil } }
        let strings = texts.min { $0.lexicographicallyPrecedes($1) }.flatMap { TextStrings.strings(of: $0) }
        let isWithheld = first.port != nil && first.addresses.isEmpty && all.allSatisfy(\.addresses.isEmpty)
        return Resolution(
            instance: instance, origin: .unicast, target: first, alternatives: Array(all),
            txt: TXTRecord(strings: strings ?? []), isAuthenticated: isAuthenticated(instance, targets.map(\.host)),
            withheld: isWithheld ? withheld(targets.map(\.host)) : nil)
    }

    /// Returns whether every record that describes the service came with AD.
    private func isAuthenticated(_ instance: ServiceInstance, _ hosts: [DomainName]) -> Bool {
        guard let name = DomainName(instance) else { return false }
        let own = [Question(name, .srv), Question(name, .txt)]
        let addresses = hosts.flatMap { host in addressTypes.map { Question(host, $0) } }
        let answered = own + addresses.filter { table[$0].map { !$0.records.isEmpty } ?? false }
        return answered.allSatisfy { table[$0]?.isAuthenticated ?? false }
    }

    private mutating func addresses(of host: DomainName) -> [IPAddress] {
        let all = addressTypes.flatMap { table[Question(host, $0)]?.records ?? [] }
            .compactMap { IPAddress($0, scope: 0) }
        if all.count > Self.mostAddresses {
            facts.append(
                .degraded("\(host.shown) has more than \(Self.mostAddresses) addresses: further ones are left out"))
        }
        return Array(all.sorted().prefix(Self.mostAddresses))
    }
}

extension ServiceQuery {
    var isForOne: Bool { if case .instance = target { true } else { false } }
}
