#if Commands
internal import DiscoveryTLS
internal import NIOPosix
internal import PeerIdentity

/// Keeps the key that each name had last, which `browse` and `resolve` compare with the known one.
enum LastKeys {
    /// Notes the key of someone who was dialled. That it cannot be written hinders no connection.
    static func note(_ peer: PeerTLS.Peer, in directory: String) async {
        if case .label = peer.name { return }
        try? await NIOThreadPool.singleton.runIfActive {
            let file = KnownPeersFile(path: "\(directory)/\(KnownPeersFile.lastKeysName)").withHashes
            // Seldom is it another.
            guard try file.read().keys(of: peer.name) != [peer.key] else { return }
            let known = KnownPeersFile(path: "\(directory)/\(KnownPeersFile.name)").withHashes
            let hashes = try known.read().isHashed
            try file.change { last in
                last.replace(KnownPeers.Peer(peer.name, peer.key), atMost: KnownPeers.mostLastKeys)
                if hashes { _ = last.hashNames() }
            }
        }
    }
}

extension PeerRefusal {
    /// Who was refused for the key or the certificate that was shown. No handshake has proven it: it is worth a hint.
    var shown: PeerTLS.Peer? {
        switch self {
        case .changed(let name, _, let key), .unknown(let name, let key), .foreign(let name, let key),
            .uncertified(let name, let key), .misnamed(let name, let key), .expired(let name, let key):
            PeerTLS.Peer(name: name, key: key, isNew: false)
        case .unreadable, .unreadableFile, .refusedByPeer, .noTLS, .timedOut: nil
        }
    }
}
#endif
