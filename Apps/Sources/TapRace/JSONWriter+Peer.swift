import DiscoveryJSON
import PeerSession

extension JSONWriter {
    /// Writes the member `peer`. The id distinguishes two peers of the same name.
    mutating func peer(_ peer: Peer) {
        key("peer")
        object { object in
            object.member("id", peer.id.description)
            object.member("name", peer.displayName)
        }
    }
}
