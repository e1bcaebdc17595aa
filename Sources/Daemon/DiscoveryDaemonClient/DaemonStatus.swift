public import DNSSD
public import DiscoveryJSON

/// How the daemon is: `GET /v1/status`.
public struct DaemonStatus: Sendable {
    /// What finds services, or publishes them.
    public struct Part: Hashable, Sendable {
        /// What it is: `wire`, `system`, `private`.
        public let kind: String
        /// Whether it answers; nil for a state that this version does not know.
        public let state: BackendState?
    }

    /// The daemon's version.
    public let version: String
    /// How long it runs.
    public let uptime: Duration
    /// What finds services.
    public let finder: Part
    /// What publishes services.
    public let publisher: Part
    /// What is wrong with it now, for people; safe for a terminal. Empty when all is well.
    public let reasons: [String]
    /// Why this user may not publish for as long as a connection lasts; nil if it may.
    public let publishRefusal: String?
    /// Why this user may not hand a service over; nil if it may.
    public let registerRefusal: String?
    /// How many clients are connected.
    public let clients: Int
    /// The whole answer, with what docs/contract/daemon.md has besides: open queries, domains, limits.
    public let json: JSONValue

    init?(_ json: JSONValue) {
        guard let version = json["version"]?.string, let uptime = json["uptimeSeconds"]?.integer,
            let finder = json["finder"].flatMap({ Part($0) }), let publisher = json["publisher"].flatMap({ Part($0) })
        else { return nil }
        self.version = version.escapedForTerminal
        self.uptime = .seconds(uptime)
        self.finder = finder
        self.publisher = publisher
        reasons = (json["reasons"]?.strings ?? []).map(\.escapedOnce)
        publishRefusal = json["may"]?["publish"]?.string?.escapedOnce
        registerRefusal = json["may"]?["handOver"]?.string?.escapedOnce
        clients = json["clients"]?.integer ?? 0
        self.json = json
    }
}

extension DaemonStatus.Part {
    init?(_ json: JSONValue) {
        guard let kind = json["kind"]?.string else { return nil }
        self.init(kind: kind.escapedForTerminal, state: BackendState(json))
    }
}

extension DaemonClient {
    /// How the daemon is.
    /// - Throws: as `DaemonClient` says.
    public func status() async throws(DiscoveryError) -> DaemonStatus {
        guard let status = DaemonStatus(try await ask("GET", "/v1/status")) else { throw Self.notUnderstood }
        return status
    }
}
