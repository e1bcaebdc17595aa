package import DNSSD
internal import Discovery
package import DiscoveryControl
internal import DiscoverySystem
internal import Libc

/// The other end of a connection.
package struct SocketPeer: Hashable, Sendable {
    /// The user, as the kernel knows it (SO_PEERCRED, unix(7)); nil over TCP, where no user is known.
    package let uid: UInt32?
    package let gid: UInt32
    package let pid: Int32
    /// Where it is, over TCP.
    package let address: IPAddress?

    package init(uid: UInt32?, gid: UInt32 = .max, pid: Int32 = 0, address: IPAddress? = nil) {
        self.uid = uid
        self.gid = gid
        self.pid = pid
        self.address = address
    }

    /// The owner with whose connections this one is counted; all without an address count as one.
    package var owner: ConnectionTable.Owner {
        uid.map { .user($0) } ?? ConnectionTable.Owner(address ?? .v4(IPv4Address(bits: 0)))
    }

    /// The name of the user; nil when the system has none.
    package var userName: String? { uid.flatMap(Accounts.userName) }

    /// The groups of the user by the system's group database, with the one that the process had when it connected.
    ///
    /// Not those of /proc/PID/status: the process may have ended and its number been given to another meanwhile.
    package var groups: [UInt32] {
        guard let uid else { return [] }
        return [gid] + Accounts.groups(of: uid).filter { $0 != gid }
    }
}

extension SocketPeer {
    /// Root and the daemon's own user, who may see everything.
    package var mayKnowAll: Bool { uid == 0 || uid == geteuid() }
}

extension RegistrationStatus {
    /// As a peer may see it: the whole for its owner and for root; what a check does and why it fails, which may have
    /// command lines in it, and its owner for no one else; over TCP no reasons at all.
    package func shown(to peer: SocketPeer) -> RegistrationStatus {
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
