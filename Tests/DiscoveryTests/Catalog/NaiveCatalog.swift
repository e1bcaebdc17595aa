import DNSSD
import Discovery

/// The rules of `Catalog`, spelled out: everything is examined every 10 ms, and whatever can be computed is not stored.
struct NaiveCatalog {
    fileprivate struct Path {
        let instance: ServiceInstance
        let origin: Origin
        let family: IPAddress.Family?
        var goneSince: Duration?
        /// How long it is held.
        var hold: Duration = .zero
        var isConfirmed = true
    }

    private struct Answer {
        let instance: ServiceInstance
        let origin: Origin
        var latest: Resolution?
        var older: [IPAddress] = []
        var shrinksSince: Duration?
        var waitsUntil: Duration
        var isWaiting = true
        var isFailing = false
    }

    private let limits = DiscoveryLimits()
    private let resolves: Bool
    private var paths: [Path] = []
    private var answers: [Answer] = []
    private var firstTellBy: [ServiceInstance: Duration] = [:]
    private var isUp = true
    /// What has been reported and still holds.
    private(set) var told: [ServiceInstance: DiscoveredService] = [:]

    init(resolves: Bool) { self.resolves = resolves }

    mutating func apply(_ fact: BrowseFact, now: Duration) {
        step(now)
        switch fact {
        case .appeared(let sighting):
            let wait = resolves ? limits.resolutionLimit : limits.sightingWindow
            if !paths.contains(where: { $0.instance == sighting.instance }) {
                firstTellBy[sighting.instance] = now + wait
            }
            if !paths.contains(where: { $0.instance == sighting.instance && $0.origin == sighting.origin }) {
                let tellBy = told[sighting.instance] == nil ? firstTellBy[sighting.instance] : nil
                answers.append(
                    Answer(
                        instance: sighting.instance,
                        origin: sighting.origin,
                        waitsUntil: tellBy ?? (now + wait)
                    )
                )
            }
            paths.removeAll { $0.is(sighting) }
            paths.append(
                Path(instance: sighting.instance, origin: sighting.origin, family: sighting.family)
            )
        case .disappeared(let sighting):
            for index in paths.indices where isUp && paths[index].is(sighting) && paths[index].goneSince == nil {
                paths[index].goneSince = now
                paths[index].hold = limits.removalHold
            }
        case .withdrawn(let sighting):
            for index in paths.indices where isUp && paths[index].is(sighting) && paths[index].goneSince == nil {
                paths[index].goneSince = now
                paths[index].hold = limits.withdrawalHold
            }
        case .hidden(let sighting):
            for index in paths.indices where isUp && paths[index].is(sighting) && paths[index].goneSince == nil {
                paths[index].goneSince = now
                paths[index].hold = limits.linkHold
            }
        case .resolved(let resolution):
            for index in answers.indices
            where answers[index].instance == resolution.instance && answers[index].origin == resolution.origin {
                take(resolution, &answers[index], now)
            }
        case .resolutionFailed(let instance, let origin):
            for index in answers.indices
            where isUp && answers[index].instance == instance && answers[index].origin == origin {
                answers[index].isFailing = true
                answers[index].isWaiting = false
            }
        // No engine that sees paths reports them.
        case .merged, .gone: break
        case .listed:
            for index in paths.indices where !paths[index].isConfirmed && paths[index].goneSince == nil {
                paths[index].goneSince = now
                paths[index].hold = limits.removalHold
            }
            if !resolves { for index in answers.indices { answers[index].isWaiting = false } }
        case .backend(let state):
            isUp = state == .up
            guard !isUp else { break }
            for index in paths.indices { (paths[index].isConfirmed, paths[index].goneSince) = (false, nil) }
            for index in answers.indices {
                let older = answers[index].older
                if answers[index].shrinksSince != nil { answers[index].latest?.target.addresses = older }
                answers[index].shrinksSince = nil
            }
        case .degraded: break
        }
        step(now)
    }

    /// Examines everything.
    mutating func step(_ now: Duration) {
        paths.removeAll { path in path.goneSince.map { $0 + path.hold <= now } ?? false }
        answers.removeAll { answer in
            !paths.contains { $0.instance == answer.instance && $0.origin == answer.origin }
        }
        for index in answers.indices {
            if answers[index].waitsUntil <= now { answers[index].isWaiting = false }
            let hold = answers[index].latest?.addresses == [] ? limits.removalHold : limits.addressHold
            if let since = answers[index].shrinksSince, since + hold <= now { answers[index].shrinksSince = nil }
        }
        for instance in Set(told.keys).union(paths.map(\.instance)) {
            guard paths.contains(where: { $0.instance == instance }) else {
                told[instance] = nil
                continue
            }
            let ready = answers.filter { $0.instance == instance && !$0.isWaiting }
            if told[instance] == nil {
                let live = paths.filter { $0.instance == instance && $0.goneSince == nil }.map(\.origin)
                guard !live.isEmpty, live.allSatisfy({ origin in ready.contains { $0.origin == origin } })
                else { continue }
            }
            guard !ready.isEmpty else { continue }
            told[instance] = service(instance, ready)
        }
    }

    private func take(_ resolution: Resolution, _ answer: inout Answer, _ now: Duration) {
        let shown = answer.shrinksSince == nil ? answer.latest?.addresses ?? [] : answer.older
        let isShrunk =
            answer.latest?.host == resolution.host && resolution.addresses.count < shown.count
            && resolution.addresses.allSatisfy(shown.contains)
        answer.shrinksSince = isShrunk ? answer.shrinksSince ?? now : nil
        answer.older = shown
        answer.latest = resolution
        answer.isFailing = false
        answer.isWaiting = false
    }

    private func service(_ instance: ServiceInstance, _ ready: [Answer]) -> DiscoveredService {
        var service = DiscoveredService(instance: instance, interfaces: ready.compactMap(\.origin.interface).sorted())
        let real = ready.filter { $0.latest != nil && $0.origin.interface?.name != "lo" }.sorted {
            $0.origin < $1.origin
        }
        let resolved = real + ready.filter { $0.latest != nil && $0.origin.interface?.name == "lo" }
        guard let first = resolved.first?.latest else { return service }
        (service.host, service.port, service.txt) = (first.host, first.port, first.txt)
        for answer in resolved {
            guard let port = answer.latest?.port else { continue }
            for address in answer.shrinksSince == nil ? answer.latest?.addresses ?? [] : answer.older
            where !service.endpoints.contains(where: { $0.address == address && $0.port == port }) {
                service.endpoints.append(Endpoint(address: address, port: port, interface: answer.origin.interface))
            }
        }
        let isFailing = resolved.allSatisfy(\.isFailing)
        let lacksAddress = service.endpoints.isEmpty && first.port != nil
        service.state =
            isFailing ? lacksAddress ? .found : .unreachable : first.port == nil ? .unavailable : .resolved
        service.endpoints = service.endpoints.enumerated().sorted {
            ($0.element.address, $0.offset) < ($1.element.address, $1.offset)
        }.map(\.element)
        return service
    }
}

extension NaiveCatalog.Path {
    fileprivate func `is`(_ sighting: Sighting) -> Bool {
        instance == sighting.instance && origin == sighting.origin && family == sighting.family
    }
}
