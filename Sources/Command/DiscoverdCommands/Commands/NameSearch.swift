#if Commands
internal import CommandFrame
internal import DNSSD
internal import Discovery

/// Finds a service by name when no type is given: the usual type wins if it answers; otherwise all types are searched, and the name must be
/// unique (docs/decisions/0022-the-usual-type-first.md).
struct NameSearch {
    let session: Session
    let name: ServiceName
    let domain: Domain
    let interfaces: InterfaceFilter
    let family: IPAddress.Family?
    /// Ignore services that cannot be connected to.
    var onlyTCP = false

    /// Stop after this many services of one name.
    private static let limit = 16
    /// How long the usual type may take to answer before another type is accepted.
    private static let grace = Duration.milliseconds(400)

    /// What the search hears.
    private enum News: Sendable {
        /// A service of the usual type answered.
        case usual(ServiceInstance)
        /// An event about services of this name.
        case event(ServiceEvent)
        /// The usual type's head start is over.
        case graceIsOver
        case timeIsUp
    }

    /// - Returns: the service.
    /// - Throws: status 1 if none is found in time, 64 if there are several.
    func run(within limit: Duration) async throws -> ServiceInstance {
        let found = try await search(within: limit)
        guard let first = found.first else {
            throw CommandError(
                .notFound, "no service \"\(name)\" of any type in \(domain) was found within \(limit.inSeconds) s",
                advice: [domain.listingAdvice()] + hostAdvice)
        }
        guard found.count == 1 else {
            throw CommandError(
                .usage, "\(found.count) services have the name \"\(name)\": say which by its type",
                advice: found.sorted().map(\.fullName))
        }
        return first
    }

    /// The word may be a host's.
    private var hostAdvice: [String] {
        let isLabel = name.text.utf8.allSatisfy { byte in
            (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte) || byte == UInt8(ascii: "-")
        }
        return domain == .local && isLabel ? ["If it is a host: 'discoverd host \(name)'."] : []
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
                    session.tellDegraded(reason)
                }
                if isGraceOver, isSettled && !found.isEmpty || found.count >= Self.limit { return found }
            }
        } catch is DiscoveryError where session.stop.cause != nil {
            // The stream ended because the command is ending.
        }
        if session.stop.cause == .noBackend { throw session.absence(gate.reason) }
        return found
    }

    /// Asks for all types, and for the usual type by the service's name, because a responder need not list its types (RFC 6763 §9).
    ///
    /// Running out of time ends the stream but not the command: what was found by then counts.
    private func news(of usual: ServiceType, within limit: Duration) -> AsyncThrowingStream<News, any Error> {
        let events = session.network.browseAll(in: domain, on: interfaces, over: family, resolution: .none)
        let answers = session.network.browse(
            ServiceQuery(
                .instance(ServiceInstance(name: name, type: usual, domain: domain)), interfaces: interfaces,
                family: family, resolution: .none))
        let (name, foldsCase) = (name, domain != .local)
        return AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1024)) { continuation in
            let tasks = [
                Task {
                    do {
                        // Only events that matter here, so that they fit the buffer on any network.
                        for try await event in events where event.concerns(name, foldingCase: foldsCase) {
                            continuation.yield(.event(event))
                        }
                        continuation.finish()
                    } catch {
                        continuation.finish(throwing: error)
                    }
                },
                Task {
                    // The other stream already reports the backend's state.
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
    /// The named service. If only a name is given, searches the network for it.
    /// - Parameter onlyTCP: ignore services that cannot be connected to.
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
    /// Whether the event is about a service of this name, or about no service in particular. A DNS server may keep names in lower case.
    fileprivate func concerns(_ name: ServiceName, foldingCase: Bool) -> Bool {
        switch self {
        case .found(let service), .changed(let service), .lost(let service):
            service.instance.name == name
                || foldingCase && service.instance.name.text.hasSameFoldedBytes(as: name.text)
        case .settled, .backend, .degraded: true
        }
    }
}
#endif
