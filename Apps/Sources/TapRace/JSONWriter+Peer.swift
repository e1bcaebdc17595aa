import DiscoveryJSON
import PeerSession

extension JSONWriter {
    /// Writes the member `peer` of what happens with a peer. Its id tells apart two of one name.
    mutating func peer(_ peer: Peer) {
        key("peer")
        object { object in
            object.member("id", peer.id.description)
            object.member("name", peer.displayName)
        }
    }
}
