import CSupervisor
import Glibc
import System

/// As whom the daemons of a private backend run. They read packets of the network: never as root where that can be helped.
struct DaemonUser: Equatable {
    let user: UInt32
    let group: UInt32

    /// This process's.
    static var own: DaemonUser { DaemonUser(user: geteuid(), group: getegid()) }

    /// Who root would be instead, by the lines of passwd(5): avahi-daemon's own user, else nobody; nil when neither is there, or both
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

    /// Who it is to be for a directory of this process: another than root where root may become one, and this user namespace has
    /// one, which a container's may not.
    static func chosen(for directory: String) -> DaemonUser {
        guard geteuid() == 0, csupervisor_can_change_user(),
            let other = DaemonUser(passwd: SystemFile.text(of: "/etc/passwd") ?? ""),
            unsafe lchown(directory, other.user, other.group) == 0
        else { return own }
        return unsafe lchown(directory, 0, 0) == 0 ? other : own
    }
}
