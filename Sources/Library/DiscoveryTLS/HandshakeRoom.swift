#if TLS
internal import DNSSD
internal import DiscoverySystem
internal import NIOCore
internal import PeerIdentity

/// The connections that were accepted and have not proven a key yet: anyone can begin one and say nothing. Where there are too many, one of the
/// greediest address is closed.
final class HandshakeRoom: Sendable {
    private static let limit = 256

    private struct State {
        var newcomers = Newcomers(limit: HandshakeRoom.limit)
        var channels: [UInt64: any Channel] = [:]
    }

    private let state = Locked(State())

    /// Takes in a connection until its handshake is over.
    /// - Returns: to be called when its first message was whole, and when it has shown a certificate.
    func enter(_ channel: any Channel, until end: EventLoopFuture<PeerTLS.Peer>) -> @Sendable () -> Void {
        let address = channel.remoteAddress?.ipAddress.flatMap { IPAddress($0) }
        let (id, displaced) = state.withLock { state -> (UInt64, (any Channel)?) in
            let (id, displaced) = state.newcomers.came(from: address)
            state.channels[id] = channel
            return (id, displaced.flatMap { state.channels.removeValue(forKey: $0) })
        }
        displaced?.close(promise: nil)
        end.whenComplete { [state] _ in
            state.withLock { state in
                state.newcomers.left(id)
                state.channels[id] = nil
            }
        }
        return { [state] in state.withLock { $0.newcomers.advanced(id) } }
    }
}
#endif
