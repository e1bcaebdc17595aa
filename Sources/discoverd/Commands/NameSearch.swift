#if Commands
internal import CommandFrame
internal import DNSSD
internal import Discovery

/// Finds the service of a name where no type is said: that of the usual type if it answers, else the only one of that name, for which all
/// types are asked (docs/decisions/0022-the-usual-type-first.md).
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
    /// How long one of the usual type may take to answer before one of another type is meant.
    private static let grace = Duration.milliseconds(400)

    /// What is heard while it searches.
    private enum News: Sendable {
        /// One of the usual type answers.
        case usual(ServiceInstance)
        /// Something about services of this name.
        case event(ServiceEvent)
        /// The usual type has had its time.
        case graceIsOver
        case timeIsUp
    }

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
        let usual = try ServiceType(DefaultType.text)
        var gate = BackendGate(session)
        var found: [ServiceInstance] = []
        var (isSettled, isGraceOver) = (false, false)
        do {
            for try await news in news(of: usual, within: limit) {
                switch news {
                case .usual(let instance):
                    gate.answered()
                    return [instance]
                case .timeIsUp: return found
                case .graceIsOver: isGraceOver = true
                case .event(.found(let service)), .event(.changed(let service)):
                    gate.answered()
                    let instance = service.instance
                    if instance.type == usual { return [instance] }
                    if !onlyTCP || instance.type.transport == .tcp, !found.contains(instance) { found.append(instance) }
                case .event(.lost(let service)): found.removeAll { $0 == service.instance }
                case .event(.settled):
                    gate.answered()
                    isSettled = true
                case .event(.backend(let state)): gate.note(state)
                case .event(.degraded(let reason)):
                    session.tellDegraded(reason, of: Subject(type: nil, domain: domain))
                }
                if isGraceOver, isSettled && !found.isEmpty || found.count >= Self.limit { return found }
            }
        } catch is DiscoveryError where session.stop.cause != nil {
            // The stream ended because the command is to end.
        }
        if session.stop.cause == .noBackend { throw CommandError.noBackend(gate.reason) }
        return found
    }

    /// Asks all types, and the usual one by the service's name: a responder need not list its types (RFC 6763 §9).
    ///
    /// The time is over without an end of the command: what was found by then counts.
    private func news(of usual: ServiceType, within limit: Duration) -> AsyncThrowingStream<News, any Error> {
        let events = session.network.browseAll(in: domain, on: interfaces, over: family, resolution: .none)
        let answers = session.network.browse(
            ServiceQuery(
                .instance(ServiceInstance(name: name, type: usual, domain: domain)), interfaces: interfaces,
                family: family, resolution: .none))
        let name = name
        return AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1024)) { continuation in
            let tasks = [
                Task {
                    do {
                        // Only what matters here, so that the buffer holds it all whatever else there is.
                        for try await event in events where event.concerns(name) { continuation.yield(.event(event)) }
                        continuation.finish()
                    } catch {
                        continuation.finish(throwing: error)
                    }
                },
                Task {
                    // What becomes of the backend is heard above.
                    var iterator = answers.makeAsyncIterator()
                    while let event = try? await iterator.next() {
                        if case .found(let service) = event { continuation.yield(.usual(service.instance)) }
                    }
                },
                Task {
                    guard (try? await Task.sleep(for: min(Self.grace, limit))) != nil else { return }
                    continuation.yield(.graceIsOver)
                    guard (try? await Task.sleep(for: max(limit - Self.grace, .zero))) != nil else { return }
                    continuation.yield(.timeIsUp)
                },
            ]
            continuation.onTermination = { _ in for task in tasks { task.cancel() } }
        }
    }
}

extension InstanceArguments {
    /// The service: as it is named, or that which is meant by its name alone, for which the network is asked.
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
#endif
