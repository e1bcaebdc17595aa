public import DNSSD
public import Discovery
internal import DiscoveryControl
internal import DiscoveryJSON

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
        guard !id.isEmpty else { throw DiscoveryError(.notFound, "there is no registration \"\"") }
        return "/v1/registrations/\(QueryString.encode(id))"
    }

    private static func registration(_ json: JSONValue) throws(DiscoveryError) -> DaemonRegistration {
        guard let registration = RegistrationStatus(json).flatMap({ DaemonRegistration($0) }) else {
            throw notUnderstood
        }
        return registration
    }
}
