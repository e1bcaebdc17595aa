internal import DNSSD
internal import Discovery

/// Finds the only service of a name, whatever its type: where none is named, all are asked.
struct NameSearch {
    let session: Session
    let name: ServiceName
    let domain: Domain
    let interfaces: InterfaceFilter
    let family: IPAddress.Family?
    /// Only services that can be connected to.
    var onlyTCP = false

    /// A network that has more of one name is not asked for the rest.
    private static let limit = 16

    /// - Returns: the service.
    /// - Throws: 1 when there is none within the time, 64 when there are several.
    func run(within limit: Duration) async throws -> ServiceInstance {
        let found = try await search(within: limit)
        guard let first = found.first else {
            throw CommandError(
                .notFound, "no service \"\(name)\" of any type in \(domain) was found within \(limit.inSeconds) s",
                advice: ["'discoverd browse --all -t' lists what is there."])
        }
        guard found.count == 1 else {
            throw CommandError(
                .usage, "\(found.count) services have the name \"\(name)\": say which by its type",
                advice: found.sorted().map(\.fullName))
        }
        return first
    }

    private func search(within limit: Duration) async throws -> [ServiceInstance] {
        let events = session.network.browseAll(in: domain, on: interfaces, over: family, resolution: .none)
        var gate = BackendGate(session)
        var found: [ServiceInstance] = []
        var isSettled = false
        // The time is over without an end of the command: what was found by then counts.
        let name = name
        let reader = AsyncThrowingStream<ServiceEvent?, any Error>(bufferingPolicy: .bufferingNewest(1024)) {
            continuation in
            let reading = Task {
                do {
                    // Only what matters here, so that the buffer holds it all whatever else there is.
                    for try await event in events where event.concerns(name) { continuation.yield(event) }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            let timer = Task {
                guard (try? await Task.sleep(for: limit)) != nil else { return }
                continuation.yield(nil)
            }
            continuation.onTermination = { _ in
                reading.cancel()
                timer.cancel()
            }
        }
        do {
            for try await event in reader {
                switch event {
                case nil: return found
                case .found(let service), .changed(let service):
                    gate.answered()
                    let instance = service.instance
                    if !onlyTCP || instance.type.transport == .tcp, !found.contains(instance) { found.append(instance) }
                case .lost(let service): found.removeAll { $0 == service.instance }
                case .settled:
                    gate.answered()
                    isSettled = true
                case .backend(let state): gate.note(state)
                case .degraded(let reason): session.tellDegraded(reason, of: Subject(type: nil, domain: domain))
                }
                if isSettled && !found.isEmpty || found.count >= Self.limit { return found }
            }
        } catch is DiscoveryError where session.stop.cause != nil {
            // The stream ended because the command is to end.
        }
        if session.stop.cause == .noBackend { throw CommandError.noBackend(gate.reason) }
        return found
    }
}

extension InstanceArguments {
    /// The service: as it is named, or the only one of that name, for which the network is asked.
    /// - Parameter onlyTCP: only services that can be connected to.
    func instance(
        in session: Session, at place: NetworkOptions, within limit: Duration, onlyTCP: Bool = false
    ) async throws -> ServiceInstance {
        if let named = try named() { return named }
        let search = NameSearch(
            session: session, name: try observedName(), domain: domain.domain, interfaces: try place.interfaces(),
            family: place.family, onlyTCP: onlyTCP)
        return try await search.run(within: limit)
    }
}

extension ServiceEvent {
    /// Whether it is about a service of a name, or about none.
    fileprivate func concerns(_ name: ServiceName) -> Bool {
        switch self {
        case .found(let service), .changed(let service), .lost(let service): service.instance.name == name
        case .settled, .backend, .degraded: true
        }
    }
}
