public import DNSSD

extension LocalNetwork {
    /// How long a backend may take to start (by D-Bus activation) before it counts as absent.
    static let backendPatience: Duration = .seconds(2)

    /// How long other interfaces may lag behind the first that answered.
    private static let laggards: Duration = .milliseconds(400)

    /// Resolves one service, with every address at which it can be dialled.
    /// - Throws: `.timedOut` if nothing answers within `limit`; `.notFound` if the service answered and then went away;
    ///   `.backendUnavailable`, after 2 s or `limit`; `.addressesWithheld`; `.closed` if the task is cancelled or the network shut down.
    public func resolve(
        _ instance: ServiceInstance,
        on interfaces: InterfaceFilter = .all,
        over family: IPAddress.Family? = nil,
        within limit: Duration
    ) async throws(DiscoveryError) -> DiscoveredService {
        let query = ServiceQuery(.instance(instance), interfaces: interfaces, family: family, resolution: .once)
        guard let observer = directory.observer else { return try await answer(to: query, instance, within: limit) }
        let start = directory.time.now
        let result: Result<DiscoveredService, DiscoveryError>
        do throws(DiscoveryError) {
            result = .success(try await answer(to: query, instance, within: limit))
        } catch {
            result = .failure(error)
        }
        observer.observed(.resolved(instance, result, took: directory.time.now - start))
        return try result.get()
    }

    private func answer(
        to query: ServiceQuery, _ instance: ServiceInstance, within limit: Duration
    ) async throws(DiscoveryError) -> DiscoveredService {
        let subscription = directory.services.subscribe(query, directory.makeSubscriber())
        let start = directory.time.now
        var deadline = start + limit
        var unavailable: String?
        var notice: String?
        var isSighted = false
        var isSettled = false
        var answer: DiscoveredService?
        while let changes = try await subscription.next(atMost: 1, until: deadline) {
            switch changes.first {
            case .found(let service), .changed(let service):
                isSighted = true
                guard service.state == .resolved || service.state == .unavailable else { continue }
                if isSettled { return try dialable(service) }
                if answer == nil { deadline = min(deadline, directory.time.now + Self.laggards) }
                answer = service
            case .lost:
                throw DiscoveryError(.notFound, "\(instance.name) is gone")
            case .backend(.unavailable(let reason)), .backend(.lost(let reason)):
                unavailable = reason
                deadline = min(start + limit, directory.time.now + Self.backendPatience)
            case .backend(.available), .backend(.recovered):
                unavailable = nil
                deadline = start + limit
            case .settled:
                if let answer { return try dialable(answer) }
                isSettled = true
            case .degraded(let reason): notice = reason
            case nil:
                if let answer { return try dialable(answer) }
                if let unavailable { throw DiscoveryError(.backendUnavailable, unavailable) }
                let what = isSighted ? "is announced but did not answer" : "was not found"
                let why = notice.map { " (\($0))" } ?? ""
                throw DiscoveryError(.timedOut, "\(instance.name) (\(instance.type)) \(what) within \(limit)\(why)")
            }
        }
        throw DiscoveryError(.closed, "resolving \(instance.name) was cancelled")
    }

    /// A service without addresses is no answer where it is known who withholds them.
    private func dialable(_ service: DiscoveredService) throws(DiscoveryError) -> DiscoveredService {
        guard service.endpoints.isEmpty, service.port != nil, let reason = service.withheld else { return service }
        throw DiscoveryError(.addressesWithheld, reason)
    }
}
