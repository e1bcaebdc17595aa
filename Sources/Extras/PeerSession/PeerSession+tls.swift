#if TLS
public import DNSSD
public import Discovery
public import DiscoveryTLS
internal import NIOCore
internal import NIOPosix
internal import PeerIdentity

extension PeerSession {
    /// Creates a session whose connections are TLS 1.3 between machines that know each other's keys, and whose datagrams are sealed; `run()`
    /// starts it. Plain sessions, and machines that are not trusted, are refused.
    ///
    /// A peer that is dialled is the service of its name; `identity(of:)` says who one is that dialled in. TXT also has `tls` and `fp`: hints,
    /// which decide nothing.
    /// - Parameters:
    ///   - network: finds and publishes.
    ///   - identifier: shared by all sessions of one program: 1 to 15 letters, digits and hyphens.
    ///   - displayName: for people; cut to 200 bytes. The service gets as much of it as fits a service's name.
    ///   - mode: what it takes part as.
    ///   - id: who it is; a new one each time unless told.
    ///   - interfaces: where it finds, and is found.
    ///   - tls: whose key this is, whose are known, and who is asked about others.
    ///   - refused: called for each caller that is not let in. Anyone on the network can cause calls.
    /// - Throws: `.invalidServiceType` for an identifier that gives no service type.
    public init(
        network: LocalNetwork,
        identifier: String,
        displayName: String,
        mode: SessionMode,
        id: PeerID = .random(),
        on interfaces: InterfaceFilter = .all,
        tls: PeerTLS,
        refused: @escaping @Sendable (PeerRefusal) -> Void = { _ in }
    ) throws(DiscoveryError) {
        try self.init(
            network: network, identifier: identifier, displayName: displayName, mode: mode, id: id, on: interfaces,
            security: SessionTLS(tls: tls, tellRefused: refused))
    }

    /// Who a peer is that is connected or has invited: the service whose known key it has proven to have, else what it says of itself.
    /// Nil without TLS.
    public func identity(of peer: PeerID) -> PeerTLS.Peer? {
        guard let number = table.entries[peer]?.relation.link, let identity = links[number]?.identity else {
            return nil
        }
        return PeerTLS.Peer(name: identity.name, key: identity.key, isNew: identity.isNew)
    }
}

/// A session's TLS.
private struct SessionTLS: SessionSecurity {
    let tls: PeerTLS
    let tellRefused: @Sendable (PeerRefusal) -> Void

    var fingerprint: KeyFingerprint { tls.identity.fingerprint }

    func secure(_ channel: any Channel, calling name: PeerName?) -> EventLoopFuture<EventLoopFuture<LinkIdentity>> {
        let secured =
            name.map { tls.secure(channel, calling: $0) }
            ?? tls.secure(answering: channel, tellingPlain: Frame.decline(.plain).bytes)
        return secured.map {
            PeerTLS.peer(of: channel).map { LinkIdentity(name: $0.name, key: $0.key, isNew: $0.isNew) }
        }
    }

    func claim(to service: ServiceInstance, by key: KeyFingerprint) async -> PeerTable.Claim {
        // A peer with a pinned key may be any of the services.
        if case .pinned = tls.trust { return .proven }
        let known = tls.known
        // Files are read on a thread that may wait. What cannot be read proves nothing.
        let keys = try? await NIOThreadPool.singleton.runIfActive { try known.read().keys(of: .service(service)) }
        guard let keys else { return .refuted }
        if keys.contains(key) { return .proven }
        return keys.isEmpty ? .open : .refuted
    }

    func error(_ error: any Error) -> SessionError? { (error as? PeerRefusal).map { SessionError($0) } }

    func refused(_ error: any Error) { if let refusal = error as? PeerRefusal { tellRefused(refusal) } }
}
#endif
