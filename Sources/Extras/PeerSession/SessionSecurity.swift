internal import DNSSD
internal import NIOCore
internal import PeerIdentity

/// Who is at the other end of a connection, as TLS has proven.
struct LinkIdentity: Hashable, Sendable {
    /// A service, if the key is known to be that service's; else what a caller says of itself.
    var name: PeerName
    let key: KeyFingerprint
    let isNew: Bool
}

/// What a session has of TLS. A session without it is plain.
protocol SessionSecurity: Sendable {
    /// This side's key.
    var fingerprint: KeyFingerprint { get }

    /// Adds TLS to a connection, on its event loop.
    /// - Parameter name: who is dialled; nil for a caller.
    /// - Returns: who is there, once the handshake is over.
    func secure(_ channel: any Channel, calling name: PeerName?) -> EventLoopFuture<EventLoopFuture<LinkIdentity>>

    /// What a caller's key says about its claim to be the peer at a service.
    func claim(to service: ServiceInstance, by key: KeyFingerprint) async -> PeerTable.Claim

    /// The error, if a connection ended because one side does not trust the other.
    func error(_ error: any Error) -> SessionError?

    /// A caller was refused.
    func refused(_ error: any Error)
}
