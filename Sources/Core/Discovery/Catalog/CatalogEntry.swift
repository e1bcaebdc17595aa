import DNSSD

/// One service in a catalog: where it is seen, its answers there, and what was reported. A catalog may have thousands, so its fields are small.
struct CatalogEntry: Sendable {
    let instance: ServiceInstance
    /// The order in which services were first seen.
    let number: UInt32
    /// It was seen before the first list was complete, so `settled` waits for it.
    let isInitial: Bool
    /// There is no room for it, so it is not reported.
    var isSpare = false
    private let tellsBy: Moment
    var sites = SmallMap<Origin, CatalogSite>()
    /// As another process has merged it. If there are sites too, they count: they come from the engine that took that process's place.
    private(set) var merged: MergedService?
    /// The last report; nil: none yet.
    var told: DiscoveredService?
    private var paced = Moment.never

    init(instance: ServiceInstance, number: UInt32, isInitial: Bool, tellBy: Duration) {
        (self.instance, self.number, self.isInitial, tellsBy) = (instance, number, isInitial, Moment(tellBy))
    }

    /// The latest time of the first report.
    var tellBy: Duration { tellsBy.time }

    /// When the next two may follow at once; the first of them follows a `changeInterval` before; nil: now.
    var pacedUntil: Duration? {
        get { paced.orNil }
        set { paced = Moment(newValue) }
    }

    /// It has not been seen anywhere for a while.
    var isGone: Bool { sites.isEmpty && merged == nil }

    /// Every origin at which it is seen has answered or timed out.
    var isReady: Bool {
        var isSeen = merged?.presence.isLive == true
        for site in sites.values where site.presence.isLive {
            guard site.isReady else { return false }
            isSeen = true
        }
        return isSeen
    }

    /// It is seen but not reported yet, and may be soon.
    var isAwaited: Bool { !isSpare && told == nil && sites.values.contains { $0.presence.isLive } }

    /// Some of what is known of it may be reported.
    var hasNews: Bool { merged != nil || sites.values.contains(where: \.isReady) }

    func nextDeadline(_ limits: DiscoveryLimits) -> Duration? {
        sites.values.reduce(merged?.presence.nextDeadline) { earlier($0, $1.nextDeadline(limits)) }
    }

    mutating func becameMerged(_ service: DiscoveredService) {
        var presence = Presence<Origin?>()
        presence.appeared(nil)
        merged = MergedService(service, presence)
    }

    mutating func mergedGone() { merged = nil }

    mutating func backendLost() {
        sites.updateValues { $0.backendLost() }
        merged = merged?.after { $0.backendLost() }
    }

    /// - Parameter isComplete: the first list includes every origin, and nothing more is waited for.
    /// - Returns: whether that may change what is to be reported, or when.
    mutating func listed(holdUntil deadline: Duration, isComplete: Bool) -> Bool {
        var isConcerned = isAwaited
        sites.updateValues { site in
            isConcerned = site.listed(holdUntil: deadline) || isComplete && !site.isReady || isConcerned
            if isComplete { site.stopWaiting() }
        }
        guard merged != nil else { return isConcerned }
        merged = merged?.after { $0.listed(holdUntil: deadline) }
        return true
    }

    mutating func expire(_ now: Duration, _ limits: DiscoveryLimits) {
        sites.updateValues { $0.expire(now, limits) }
        sites.removeAll(where: \.presence.isEmpty)
        if let end = merged?.presence.nextDeadline, end <= now { merged = nil }
    }

    /// The service as it should be reported now.
    func service(subtypes: [String], family: IPAddress.Family?, addressLimit: Int) -> DiscoveredService {
        let ready = sites.filter(\.isReady)
        if ready.isEmpty, var service = merged?.service {
            service.subtypes = Self.subtypes(subtypes, service.subtypes)
            return service
        }
        var service = DiscoveredService(
            instance: instance, interfaces: ready.compactMap(\.key.interface).sorted(), subtypes: subtypes)
        // Another machine may announce the same name on another link.
        service.isOwn = !sites.isEmpty && sites.values.allSatisfy(\.isOwn)
        let resolved = ready.compactMap { origin, site in
            site.resolution.map { (origin: origin, resolution: $0, isFailing: site.isFailing) }
        }.sorted { $0.origin.precedesAsSource($1.origin) }
        guard let first = resolved.first?.resolution else { return service }
        service.subtypes = Self.subtypes(subtypes, resolved.flatMap(\.resolution.subtypes))
        service.host = first.host
        service.port = first.port
        service.endpoints = Self.endpoints(resolved.map(\.resolution), family: family, limit: addressLimit)
        service.answer = ServiceAnswer(joining: resolved.map(\.resolution.answer))
        if !service.endpoints.isEmpty { service.withheld = nil }
        if resolved.allSatisfy(\.isFailing) {
            // Without an address it was not resolved, whatever else is known.
            let lacksAddress = service.endpoints.isEmpty && first.port != nil && service.withheld == nil
            service.state = lacksAddress ? .found : .unreachable
        } else {
            service.state = first.port == nil ? .unavailable : .resolved
        }
        return service
    }

    /// The subtype that was asked for, and others.
    private static func subtypes(_ asked: [String], _ seen: [String]) -> [String] {
        guard !seen.isEmpty else { return asked }
        let folded = Set(asked.map { $0.lowercased() })
        return asked + Set(seen).filter { !folded.contains($0.lowercased()) }.sorted()
    }

    private static func endpoints(
        _ resolutions: [Resolution],
        family: IPAddress.Family?,
        limit: Int
    ) -> [Endpoint] {
        struct SocketAddress: Hashable {
            let address: IPAddress
            let port: Port
        }
        var endpoints: [Endpoint] = []
        // Most services have one answer, whose addresses are bounded (`Resolution.bound`), and one port.
        if resolutions.count == 1, let only = resolutions.first, only.alternatives.isEmpty {
            guard let port = only.port else { return [] }
            endpoints.reserveCapacity(only.target.addresses.count)
            for address in only.target.addresses.sorted()
            where address != endpoints.last?.address && family.map({ $0 == address.family }) ?? true {
                endpoints.append(Endpoint(address: address, port: port, interface: only.origin.interface))
            }
            return endpoints
        }
        var known: Set<SocketAddress> = []
        var addresses: Set<IPAddress> = []
        for resolution in resolutions {
            let hasAlternatives = !resolution.alternatives.isEmpty
            for target in resolution.targets {
                guard let port = target.port else { continue }
                for address in target.addresses.sorted() {
                    if let family, address.family != family { continue }
                    guard addresses.contains(address) || addresses.count < limit else { continue }
                    addresses.insert(address)
                    guard known.insert(SocketAddress(address: address, port: port)).inserted else { continue }
                    endpoints.append(
                        Endpoint(
                            address: address, port: port, interface: resolution.origin.interface,
                            target: hasAlternatives ? ServiceTarget(target) : nil))
                }
            }
        }
        guard endpoints.count > 1 else { return endpoints }
        // Numbered, because `sort` need not keep the order of equals: the ports of one address, by interface.
        return endpoints.enumerated().sorted { one, other in
            one.element.address == other.element.address
                ? one.offset < other.offset : one.element.address < other.element.address
        }.map(\.element)
    }
}

/// A service as another process has merged it, which is there until that process says otherwise. A class, for most entries have none.
final class MergedService: Sendable {
    let service: DiscoveredService
    /// One path: the way to that process.
    let presence: Presence<Origin?>

    init(_ service: DiscoveredService, _ presence: Presence<Origin?>) {
        (self.service, self.presence) = (service, presence)
    }

    /// The same with another presence; nil once that is over.
    func after(_ change: (inout Presence<Origin?>) -> Void) -> MergedService? {
        var presence = presence
        change(&presence)
        return presence.isEmpty ? nil : MergedService(service, presence)
    }
}

extension ServiceTarget {
    fileprivate init(_ target: Resolution.Target) {
        self.init(host: target.host, priority: target.priority, weight: target.weight)
    }
}

extension Origin {
    private var isLoopback: Bool { interface?.isLoopback == true }

    /// Other hosts see its answers on a real interface, so loopback comes last.
    fileprivate func precedesAsSource(_ other: Origin) -> Bool {
        isLoopback == other.isLoopback ? self < other : other.isLoopback
    }
}

/// One service at one origin: the families over which it is seen there, and its answer.
struct CatalogSite: Sendable {
    private struct Shrink: Hashable {
        let resolution: Resolution
        let since: Duration
    }

    /// Few have one.
    private var shrink: Shared<Shrink>?

    private(set) var presence = Presence<IPAddress.Family?>()
    /// This machine publishes it.
    private(set) var isOwn = false
    /// It no longer answers.
    private(set) var isFailing = false
    /// What is reported: includes addresses that have been gone for only a short while.
    private(set) var resolution: Resolution?
    private var awaited: Moment

    init(awaitedUntil: Duration) { awaited = Moment(awaitedUntil) }

    /// How long the origin's report waits for an answer; nil once it has answered or timed out.
    private var awaitedUntil: Duration? {
        get { awaited.orNil }
        set { awaited = Moment(newValue) }
    }

    /// Its answer may be reported.
    var isReady: Bool { awaitedUntil == nil }

    func nextDeadline(_ limits: DiscoveryLimits) -> Duration? {
        earlier(earlier(presence.nextDeadline, awaitedUntil), shrink.map { Self.end(of: $0.value, limits) })
    }

    mutating func appeared(_ family: IPAddress.Family?, isOwn: Bool) {
        presence.appeared(family)
        self.isOwn = isOwn
    }

    mutating func disappeared(_ family: IPAddress.Family?, holdUntil deadline: Duration) {
        presence.disappeared(family, holdUntil: deadline)
    }

    mutating func stopWaiting() { awaitedUntil = nil }

    mutating func failed() {
        isFailing = true
        awaitedUntil = nil
    }

    /// Applies an answer; holds addresses missing from it, because a returning link brings them back.
    mutating func resolved(_ new: Resolution, now: Duration) {
        isFailing = false
        awaitedUntil = nil
        guard let old = resolution, old.targets.map(\.host) == new.targets.map(\.host),
            Self.isShrunk(new.addresses, from: old.addresses)
        else {
            resolution = new
            shrink = nil
            return
        }
        shrink = Shared(Shrink(resolution: new, since: shrink?.value.since ?? now))
        var kept = new
        (kept.target.addresses, kept.alternatives) = (old.target.addresses, old.alternatives)
        kept.isAuthenticated = old.isAuthenticated && new.isAuthenticated
        resolution = kept
    }

    mutating func backendLost() {
        presence.backendLost()
        shrink = nil
    }

    mutating func listed(holdUntil deadline: Duration) -> Bool { presence.listed(holdUntil: deadline) }

    mutating func expire(_ now: Duration, _ limits: DiscoveryLimits) {
        presence.expire(now)
        if let awaitedUntil, awaitedUntil <= now { self.awaitedUntil = nil }
        if let shrink = shrink?.value, Self.end(of: shrink, limits) <= now {
            resolution = shrink.resolution
            self.shrink = nil
        }
    }

    private static func end(of shrink: Shrink, _ limits: DiscoveryLimits) -> Duration {
        shrink.since + (shrink.resolution.addresses.isEmpty ? limits.removalHold : limits.addressHold)
    }

    private static func isShrunk(_ new: [IPAddress], from old: [IPAddress]) -> Bool {
        let old = Set(old)
        return Set(new).isStrictSubset(of: old)
    }
}
