internal import DNSSD
internal import Discovery
internal import DiscoveryJSON
internal import DiscoverySystem

/// One of the daemon's streams and the queries that it answers: one query, or one per type of a shared stream of all services.
final class RemoteQuery<Fact: MirroredFact>: Sendable {
    typealias Value = Fact.Value

    private struct Member {
        /// What of the stream it asks for.
        let asks: @Sendable (Value.Key) -> Bool
        let report: @Sendable ([Fact]) -> Void
        /// It has received what was known before.
        var isWelcomed = false
    }

    private struct State {
        var mirror: Mirror<Fact>
        var members: [UInt64: Member] = [:]
        var lastID: UInt64 = 0
    }

    private let state: Locked<State>
    private let stream: Locked<RemoteStream?> = Locked(nil)
    private let read: @Sendable (JSONValue, InterfaceNames) throws(JSONShapeError) -> Value

    /// - Parameters:
    ///   - limit: the most values kept.
    ///   - read: reads the value of a line.
    init(
        atMost limit: Int, _ read: @escaping @Sendable (JSONValue, InterfaceNames) throws(JSONShapeError) -> Value
    ) {
        self.read = read
        state = Locked(State(mirror: Mirror(limit: limit)))
    }

    /// - Parameter noted: is told each event once its facts are reported.
    func start(_ pulse: Pulse, _ target: String, noted: @escaping @Sendable (RemoteStream.Event) -> Void) {
        let stream = RemoteStream(pulse, ControlClient.Request("GET", target)) { [weak self] event in
            self?.handle(event)
            noted(event)
        }
        self.stream.withLock { $0 = stream }
        stream.start()
    }

    func join(
        _ asks: @escaping @Sendable (Value.Key) -> Bool = { _ in true },
        reporting report: @escaping @Sendable ([Fact]) -> Void
    ) -> UInt64 {
        let id = state.withLock { state in
            state.lastID += 1
            state.members[state.lastID] = Member(asks: asks, report: report)
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

    /// Takes an event in. Called by the stream only, one event after another.
    func handle(_ event: RemoteStream.Event) {
        let reports = state.withLock { state -> [@Sendable () -> Void] in
            let facts: [Fact]
            switch event {
            case .line(let bytes):
                guard let change = change(bytes) else { return [] }
                facts = state.mirror.received(change)
            case .disconnected(let reason): facts = state.mirror.disconnected(reason)
            case .refused(let error): facts = state.mirror.disconnected(error.message)
            case .woken, .hangs: facts = []
            }
            return Self.distribute(facts, &state)
        }
        for report in reports { report() }
    }

    /// Nil for what this version does not know.
    private func change(_ bytes: [UInt8]) -> Change<Value>? {
        guard let json = try? JSONReader.read(bytes) else { return nil }
        // For this line alone: an adapter that was unplugged comes back with another index, and the stream goes on.
        let names = InterfaceNames()
        return try? Change(json) { json throws(JSONShapeError) in try read(json, names) }
    }

    private static func distribute(_ facts: [Fact], _ state: inout State) -> [@Sendable () -> Void] {
        var reports: [@Sendable () -> Void] = []
        for (id, member) in state.members {
            let news = member.isWelcomed ? facts : state.mirror.snapshot
            state.members[id]?.isWelcomed = true
            let own = news.filter { $0.subject.map(member.asks) ?? true }
            if !own.isEmpty { reports.append { member.report(own) } }
        }
        return reports
    }
}

extension Domain {
    init(_ json: JSONValue) throws(JSONShapeError) {
        guard let domain = (json["domain"]?.string).flatMap({ Domain(observed: $0) }) else {
            throw JSONShapeError("a line has no domain")
        }
        self = domain
    }
}

extension TypeKey {
    init(_ json: JSONValue) throws(JSONShapeError) {
        guard let type = (json["type"]?.string).flatMap({ ServiceType(observed: $0) }) else {
            throw JSONShapeError("a line has no type")
        }
        self.init(type: type, domain: try Domain(json))
    }
}

extension Listing {
    /// Reads a line about a key, which is at the interfaces that it names.
    init(_ key: Key, _ json: JSONValue, _ names: InterfaceNames) {
        let interfaces = json["interfaces"]?.strings ?? []
        self.init(key: key, origins: interfaces.isEmpty ? [.unicast] : interfaces.map { .link(names.interface($0)) })
    }
}
