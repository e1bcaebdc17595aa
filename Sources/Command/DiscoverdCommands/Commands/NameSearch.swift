#if Commands
internal import CommandFrame
internal import DNSSD
internal import Discovery

/// Finds a service by name when no type is given: the usual type wins if it answers; otherwise all types are searched, and the name must be
/// unique (docs/decisions/0022-the-usual-type-first.md).
struct NameSearch: Sendable {
    let name: ServiceName
    let domain: Domain
    let interfaces: InterfaceFilter
    let family: IPAddress.Family?
    /// Ignore services that cannot be connected to.
    let onlyTCP: Bool
    let network: LocalNetwork
    let gate: BackendGate
    let stop: Stop
    let notices: ProgramNotices

    /// Stop after this many services of one name.
    private static let limit = 16
    /// How long the usual type may take to answer before another type is accepted.
    private static let grace = Duration.milliseconds(400)

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
        let canBeHost = name.text.utf8.allSatisfy { $0.isASCIIAlphanumeric || "-.".utf8.contains($0) }
        return domain == .local && canBeHost ? ["If it is a host: 'discoverd resolve --host \(name)'."] : []
    }

    /// Asks for all types, and for the usual type by the service's name, because a responder need not list its types (RFC 6763 §9).
    private func search(within limit: Duration) async throws -> [ServiceInstance] {
        let usual = ServiceInstance(name: name, type: try ServiceType(DefaultType.text), domain: domain)
        return try await withThrowingTaskGroup(of: [ServiceInstance]?.self) { group in
            defer { group.cancelAll() }
            group.addTask { await answer(of: usual) }
            group.addTask { try await listed(usual.type, within: limit) }
            for try await found in group where found != nil { return found ?? [] }
            return []
        }
    }

    /// Nil where there is none. What the backend's state is, the other search reports.
    private func answer(of usual: ServiceInstance) async -> [ServiceInstance]? {
        let query = ServiceQuery(.instance(usual), interfaces: interfaces, family: family, resolution: .none)
        var events = network.browse(query).makeAsyncIterator()
        while let event = try? await events.next() {
            if case .found(let service) = event { return [service.instance] }
        }
        return nil
    }

    /// Running out of time ends the search but not the command: what was found by then counts.
    private func listed(_ usual: ServiceType, within limit: Duration) async throws -> [ServiceInstance] {
        var gate = gate
        // It waits for no more.
        defer { gate.answered() }
        let time = network.directory.time
        let start = time.now
        let (grace, end) = (start + min(Self.grace, limit), start + limit)
        var events = network.browseAll(in: domain, on: interfaces, over: family, resolution: .none)
            .makeAsyncIterator()
        var found: [ServiceInstance] = []
        var isSettled = false
        do {
            while let batch = try await events.nextBatch(atMost: .max, until: time.now < grace ? grace : end) {
                for event in batch where event.concerns(name, foldingCase: domain != .local) {
                    switch event {
                    case .found(let service), .changed(let service):
                        gate.answered()
                        let instance = service.instance
                        if instance.type == usual { return [instance] }
                        if !onlyTCP || instance.type.transport == .tcp, !found.contains(instance) {
                            found.append(instance)
                        }
                    case .lost(let service): found.removeAll { $0 == service.instance }
                    case .settled:
                        gate.answered()
                        isSettled = true
                    case .backend(let state): gate.note(state)
                    case .degraded(let reason): notices.degraded(reason)
                    }
                }
                let isEnough = isSettled && !found.isEmpty || found.count >= Self.limit
                if time.now >= end || time.now >= grace && isEnough { return found }
            }
        } catch {
            // The stream ended because the command is ending.
            guard stop.isRequested else { throw error }
        }
        if stop.cause == .noBackend { throw gate.failure }
        return found
    }
}

extension SoughtService {
    /// The named service. If only a name is given, searches the network for it.
    /// - Parameter onlyTCP: ignore services that cannot be connected to.
    func instance(
        in session: Session, at place: NetworkOptions, within limit: Duration, onlyTCP: Bool = false
    ) async throws -> ServiceInstance {
        if let named = try named() { return named }
        let search = NameSearch(
            name: try Parsing.soughtName(name), domain: self.place.domain, interfaces: try place.interfaces(),
            family: place.family, onlyTCP: onlyTCP, network: session.network, gate: BackendGate(session),
            stop: session.stop, notices: session.notices)
        let progress = Progress(what: "every type for \"\(search.name)\"", limit: limit)
        return try await progress.during(in: session) { try await search.run(within: limit) }
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
