import CSupervisor
import DiscoverySystem
import Libc

/// The user that runs a private backend's daemons. They parse packets from the network, so never root if that can be avoided.
struct DaemonUser: Equatable {
    let user: UInt32
    let group: UInt32

    /// This process's user.
    static var own: DaemonUser { DaemonUser(user: geteuid(), group: getegid()) }

    /// The user to run as instead of root, from the lines of passwd(5): avahi-daemon's own, else `nobody`. Nil if neither exists or both
    /// are root.
    init?(passwd: String) {
        var found: [Substring: DaemonUser] = [:]
        for line in passwd.split(separator: "\n") {
            let fields = line.split(separator: ":", omittingEmptySubsequences: false)
            guard fields.count >= 4, let user = UInt32(fields[2]), let group = UInt32(fields[3]), user > 0, group > 0,
                found[fields[0]] == nil
            else { continue }
            found[fields[0]] = DaemonUser(user: user, group: group)
        }
        guard let chosen = found["avahi"] ?? found["nobody"] else { return nil }
        self = chosen
    }

    init(user: UInt32, group: UInt32) {
        self.user = user
        self.group = group
    }

    /// The user for the daemons of a directory of this process. Not root if root may change users and the user namespace maps the other
    /// user, which a container's may not.
    static func chosen(for directory: String) -> DaemonUser {
        guard geteuid() == 0, csupervisor_can_change_user(),
            let other = DaemonUser(passwd: SystemFile.text(of: "/etc/passwd") ?? ""),
            unsafe lchown(directory, other.user, other.group) == 0
        else { return own }
        return unsafe lchown(directory, 0, 0) == 0 ? other : own
    }
}
