internal import Discovery
package import DiscoveryControl
internal import Libc

extension Peer {
    /// Root and the daemon's own user, who may see everything.
    package var mayKnowAll: Bool { uid == 0 || uid == geteuid() }
}

extension RegistrationStatus {
    /// As a peer may see it: the whole for its owner and for root; what a check does and why it fails, which may have
    /// command lines in it, and its owner for no one else; over TCP no reasons at all.
    package func shown(to peer: Peer) -> RegistrationStatus {
        if let asking = peer.uid, asking == 0 || asking == uid { return self }
        var shown = self
        shown.uid = nil
        shown.check = check.map { String($0.prefix { $0 != ":" }) }
        if state == .withheld {
            shown.reason = health == .failing ? "its check fails" : "its check has not passed yet"
        }
        guard peer.uid == nil else { return shown }
        (shown.check, shown.reason, shown.code, shown.warning) = (nil, nil, nil, nil)
        return shown
    }
}
