public import DNSSD
public import Discovery
internal import DiscoveryControl
internal import DiscoveryJSON
internal import DiscoverySystem

/// The daemon of this machine, over its control socket (docs/contract/daemon.md).
///
/// Nothing is held open: each call has a connection of its own, on a thread of its own. Safe to use from any thread. A program that only wants services
/// found and published needs none of this: `LocalNetwork()` of `NetworkServices` goes through a daemon by itself.
///
/// Errors have the daemon's code and sentence: `.notPermitted` names the rule that would permit it, `.notFound` means that no such registration is there,
/// `.limitExceeded` the user's quota, `.invalidCheck` what is wrong with a check; `.noDaemon` (no socket is there) or `.backendUnavailable` that no daemon
/// answers, `.backendFailed` that what answers is none.
public struct DaemonClient: Sendable {
    /// The path of the control socket.
    public let socket: String

    /// Creates a client of one socket; nothing is connected yet.
    public init(socket: String) { self.socket = socket }

    /// Finds the daemon as the commands do: at `$RUNTIME_DIRECTORY/control.sock`, `$XDG_RUNTIME_DIR/discoverd/control.sock`,
    /// `/run/discoverd/control.sock`, in this order; a socket that another user may have put there is passed by.
    /// - Parameter limit: how long each may take to answer; one where nobody listens takes no time.
    /// - Returns: nil if no daemon answers.
    public static func find(within limit: Duration = .milliseconds(500)) async -> DaemonClient? {
        await withCheckedContinuation { continuation in
            let code = SystemThread.start {
                let found = ControlClient.find(ControlSocketPath.candidates(explicit: nil), within: limit)
                continuation.resume(returning: found.daemon.map { DaemonClient(socket: $0.path) })
            }
            if code != 0 { continuation.resume(returning: nil) }
        }
    }

    /// The network as the daemon knows it: it answers from memory, and a service that is published through it ends with its `Publication`. To
    /// hand a service over for good there is `register(_:onConflict:check:within:)`.
    ///
    /// It connects when it is asked, and again whenever the daemon comes back. End it with `shutdown()`.
    public func network() -> LocalNetwork { LocalNetwork(engine: RemoteEngine(path: socket)) }

    /// What the daemon knows of one type, as it comes, changes and goes. A daemon that goes away is an event, and is asked again.
    public func watch(
        _ type: ServiceType,
        in domain: Domain = .local,
        on interfaces: InterfaceFilter = .all,
        over family: IPAddress.Family? = nil,
        resolution: ServiceQuery.Resolution = .watch
    ) -> ServiceEvents {
        network().browse(type, in: domain, on: interfaces, over: family, resolution: resolution)
    }

    /// What the daemon knows of one type now: from memory where it follows the type, else after as long as the network takes.
    /// - Parameters:
    ///   - type: the type.
    ///   - domain: where it is looked for.
    ///   - limit: how long the network may take, at most 30 s.
    /// - Throws: as `DaemonClient` says.
    public func services(
        of type: ServiceType,
        in domain: Domain = .local,
        within limit: Duration = .seconds(5)
    ) async throws(DiscoveryError) -> [DiscoveredService] {
        var query = ServiceQuery(.type(type, domain)).queryString
        query.add("wait", Self.seconds(limit))
        let names = InterfaceNames()
        let answer = try await ask("GET", "/v1/services?\(query.text)", within: limit + .seconds(2))
        guard let listed = answer["services"]?.array else { throw Self.notUnderstood }
        do throws(JSONShapeError) {
            return try listed.map { json throws(JSONShapeError) in try DiscoveredService(json, names) }
        } catch {
            throw Self.notUnderstood
        }
    }

    /// Has the daemon read its configuration again. Only root, the daemon's user and the group of `access:` may.
    /// - Throws: as `DaemonClient` says; for a configuration with errors, each with file and line, and the old one stays.
    public func reload() async throws(DiscoveryError) { _ = try await send("POST", "/v1/reload", body: []) }
}

extension DaemonClient {
    static let notUnderstood = DiscoveryError(.backendFailed, "the daemon's answer is not understood")

    /// Seconds with three decimals, as the daemon's `wait` takes them: from 0 to 30.
    static func seconds(_ limit: Duration) -> String {
        let milliseconds = min(max(limit, .zero), .seconds(30)).wholeMilliseconds
        return "\(milliseconds / 1000).\(String(1000 + milliseconds % 1000).dropFirst())"
    }

    /// Sends a request.
    /// - Returns: the JSON of its answer.
    func ask(
        _ method: String, _ target: String, body: [UInt8]? = nil, within limit: Duration = .seconds(10)
    ) async throws(DiscoveryError) -> JSONValue {
        let answer = try await send(method, target, body: body, within: limit)
        guard let json = try? JSONReader.read(answer) else { throw Self.notUnderstood }
        return json
    }

    func send(
        _ method: String, _ target: String, body: [UInt8]? = nil, within limit: Duration = .seconds(10)
    ) async throws(DiscoveryError) -> [UInt8] {
        do throws(ControlError) {
            let request = ControlClient.Request(method, target, body: body)
            return try await ControlClient(path: socket).send(request, within: limit)
        } catch {
            throw error.code == "protocol" ? DiscoveryError(.backendFailed, error.message) : error.discoveryError
        }
    }
}

extension DaemonClient {
    /// What the daemon publishes or is to publish, for everyone; only an owner and root see theirs in full. Addresses that
    /// are published without a service are not among them.
    /// - Throws: as `DaemonClient` says.
    public func registrations() async throws(DiscoveryError) -> [DaemonRegistration] {
        guard let all = try await ask("GET", "/v1/registrations")["registrations"]?.array else {
            throw Self.notUnderstood
        }
        return all.compactMap { RegistrationStatus($0) }.compactMap { DaemonRegistration($0) }
    }

    /// Hands a service to the daemon, which keeps it until it is withdrawn: over restarts of itself, of avahi-daemon and of D-Bus. The same
    /// service again yields the registration that is there.
    /// - Parameters:
    ///   - service: what to publish.
    ///   - policy: what to do when the name is taken.
    ///   - check: what must pass for the service to be offered; nil for none.
    ///   - limit: how long to wait until it is established, at most 30 s. One that is not by then is returned as it is, and kept.
    /// - Throws: `.nameTaken` with `.fail`; `.invalidTXTRecord` for a record that breaks a rule; else as `DaemonClient` says.
    @discardableResult
    public func register(
        _ service: OfferedService,
        onConflict policy: ConflictPolicy = .rename,
        check: DaemonCheck? = nil,
        within limit: Duration = .seconds(5)
    ) async throws(DiscoveryError) -> DaemonRegistration {
        try service.txt.check()
        var writer = JSONWriter()
        writer.request(RegistrationRequest(service, onConflict: policy, check: check?.request))
        let target = "/v1/registrations?wait=\(Self.seconds(limit))"
        return try Self.registration(await ask("POST", target, body: writer.bytes, within: limit + .seconds(2)))
    }

    /// Replaces the TXT record of a registration: others see a change and no end. Only its owner and root may.
    /// - Throws: `.notFound` if there is none of that id; `.invalidTXTRecord`; else as `DaemonClient` says.
    @discardableResult
    public func update(_ id: DaemonRegistration.ID, txt: TXTRecord) async throws(DiscoveryError) -> DaemonRegistration {
        try txt.check()
        var writer = JSONWriter()
        writer.txt(txt)
        return try Self.registration(await ask("PUT", "\(try Self.path(of: id))/txt", body: writer.bytes))
    }

    /// Withdraws a registration; returns once its goodbye is sent (RFC 6762 §10.1). Only its owner and root may.
    /// - Throws: `.notFound` if there is none of that id; else as `DaemonClient` says.
    public func withdraw(_ id: DaemonRegistration.ID) async throws(DiscoveryError) {
        _ = try await send("DELETE", try Self.path(of: id))
    }

    private static func path(of id: DaemonRegistration.ID) throws(DiscoveryError) -> String {
        // Without an id it would be the path of all of them.
        guard !id.isEmpty else { throw DiscoveryError(.notFound, "there is no service with the id \"\"") }
        return "/v1/registrations/\(QueryString.encode(id))"
    }

    private static func registration(_ json: JSONValue) throws(DiscoveryError) -> DaemonRegistration {
        guard let registration = RegistrationStatus(json).flatMap({ DaemonRegistration($0) }) else {
            throw notUnderstood
        }
        return registration
    }
}
