#if Lifecycle
public import DNSSD
public import Discovery
public import ServiceLifecycle

/// A service of a `ServiceGroup` that is published while the group runs, and withdrawn with goodbyes (RFC 6762 §10.1)
/// when it shuts down.
///
/// List it after what listens on its port: a group shuts down in reverse order, so that no one finds a closed port.
/// A backend that is away or refuses ends nothing: publishing is tried again. Observe the network to hear of it.
public struct AdvertisedService: ServiceLifecycle.Service {
    /// What is published.
    public let service: OfferedService
    private let network: LocalNetwork
    private let policy: ConflictPolicy
    private let check: HealthCheck?

    /// Creates a service.
    /// - Parameters:
    ///   - service: what is published.
    ///   - network: publishes; the caller shuts it down, for example as a service listed earlier in the group.
    ///   - policy: with `.fail`, `run` throws when the name is taken.
    ///   - check: decides when it is published; nil publishes as long as the group runs.
    public init(
        _ service: OfferedService,
        on network: LocalNetwork,
        onConflict policy: ConflictPolicy = .rename,
        whileHealthy check: HealthCheck? = nil
    ) {
        (self.service, self.network, self.policy, self.check) = (service, network, policy, check)
    }

    /// Publishes until graceful shutdown or cancellation; returns when the goodbyes are sent, after 2 s at most.
    /// - Throws: why publishing was given up; `.closed` if the network was shut down.
    public func run() async throws {
        try await cancelWhenGracefulShutdown {
            if let check { try await advertise(while: check) } else { try await advertise() }
        }
    }

    private func publish() -> Publication {
        network.publish(service, onConflict: policy, isPersistent: policy == .rename)
    }

    private func advertise() async throws {
        let publication = publish()
        for await status in publication.updates {
            if let error = status.failure(Task.isCancelled) { throw error }
        }
        // Goodbyes are sent in a cancelled task, too.
        await publication.withdraw()
    }

    private func advertise(while check: HealthCheck) async throws {
        let time = network.directory.time
        var state = CheckState(rise: check.rise, fall: check.fall)
        var publication: Publication?
        while !Task.isCancelled {
            let result = await check.result(time)
            if Task.isCancelled { break }
            switch state.checked(result, at: time.now) {
            case .passing: publication = publish()
            case .failing:
                await publication?.withdraw()
                publication = nil
            case .unknown, nil: break
            }
            if let error = publication?.status.failure(Task.isCancelled) { throw error }
            try? await time.sleep(until: time.now + check.interval)
        }
        await publication?.withdraw()
    }
}

extension PublicationStatus {
    /// Why the publication has ended without its owner's doing.
    fileprivate func failure(_ isCancelled: Bool) -> DiscoveryError? {
        switch state {
        case .conflicted(let error), .failed(let error): error
        case .withdrawn:
            isCancelled ? nil : DiscoveryError(.closed, "\(wanted) was withdrawn: the network was shut down")
        case .waiting, .registering, .established, .refused: nil
        }
    }
}

/// A network as a service of a `ServiceGroup`, to be listed first: it is shut down last.
extension LocalNetwork: ServiceLifecycle.Service {
    /// Waits for graceful shutdown or cancellation, then shuts the network down.
    public func run() async throws {
        try? await gracefulShutdown()
        await shutdown()
    }
}
#endif
