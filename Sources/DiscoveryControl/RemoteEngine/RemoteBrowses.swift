internal import DNSSD
internal import Discovery
internal import DiscoveryJSON
internal import DiscoverySystem

/// One of the daemon's streams and the queries that it answers: one query, or one per type of a shared stream of all
/// services.
final class RemoteBrowses: Sendable {
    private struct Member {
        let type: ServiceType?
        let report: @Sendable ([BrowseFact]) -> Void
        /// It has received a snapshot.
        var isWelcomed: Bool
    }

    private struct State {
        var facts: RemoteFacts
        var members: [UInt64: Member] = [:]
        var backend: EngineState?
        var lastID: UInt64 = 0
    }

    private let state: Locked<State>
    private let stream: Locked<RemoteStream?> = Locked(nil)

    init(isResolving: Bool, family: IPAddress.Family?) {
        state = Locked(State(facts: RemoteFacts(isResolving: isResolving, family: family)))
    }

    /// - Parameter noted: is told each event once its facts are reported.
    func start(_ path: String, _ query: QueryString, noted: @escaping @Sendable (RemoteStream.Event) -> Void) {
        let names = InterfaceNames()
        let target = "/v1/services/watch?\(query.text)"
        let stream = RemoteStream(path: path, ControlClient.Request("GET", target)) { [weak self] event in
            self?.handle(event, names)
            noted(event)
        }
        self.stream.withLock { $0 = stream }
        stream.start()
    }

    /// - Parameter type: only services of this type; nil for all.
    func join(_ type: ServiceType?, _ report: @escaping @Sendable ([BrowseFact]) -> Void) -> UInt64 {
        let id = state.withLock { state in
            state.lastID += 1
            state.members[state.lastID] = Member(type: type, report: report, isWelcomed: false)
            return state.lastID
        }
        stream.withLock { $0 }?.wake()
        return id
    }

    /// - Returns: whether none is left.
    func leave(_ id: UInt64) -> Bool {
        let isUnused = state.withLock { state in
            state.members[id] = nil
            return state.members.isEmpty
        }
        if isUnused { stream.withLock { $0 }?.cancel() }
        return isUnused
    }

    private func handle(_ event: RemoteStream.Event, _ names: InterfaceNames) {
        let reports = state.withLock { state -> [@Sendable () -> Void] in
            let facts: [BrowseFact]
            switch event {
            case .line(let bytes):
                guard let line = try? WatchLine(bytes, names) else { return [] }
                facts = state.facts.received(line)
            case .disconnected(let reason):
                names.forget()
                facts = state.facts.disconnected(reason)
            case .refused(let error): facts = state.facts.disconnected(error.message)
            case .woken: facts = []
            }
            return Self.distribute(facts, &state)
        }
        // Called only on the stream's thread, so in order.
        for report in reports { report() }
    }

    private static func distribute(_ facts: [BrowseFact], _ state: inout State) -> [@Sendable () -> Void] {
        var reports: [@Sendable () -> Void] = []
        for fact in facts { if case .backend(let backend) = fact { state.backend = backend } }
        for (id, member) in state.members {
            let news: [BrowseFact]
            if member.isWelcomed {
                news = facts
            } else {
                news = (state.backend.map { [.backend($0)] } ?? []) + state.facts.snapshot
                state.members[id]?.isWelcomed = true
            }
            let own = news.filter { fact in
                guard let type = member.type, let of = fact.instance?.type else { return true }
                return of == type
            }
            guard !own.isEmpty else { continue }
            reports.append { member.report(own) }
        }
        return reports
    }
}

extension BrowseFact {
    fileprivate var instance: ServiceInstance? {
        switch self {
        case .appeared(let sighting), .disappeared(let sighting), .withdrawn(let sighting), .hidden(let sighting):
            sighting.instance
        case .resolved(let resolution): resolution.instance
        case .resolutionFailed(let instance, _): instance
        case .listed, .backend, .degraded: nil
        }
    }
}
