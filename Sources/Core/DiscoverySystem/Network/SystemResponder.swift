internal import Libc

/// A program that answers multicast questions for this machine and all that runs on it, in this network namespace: told from programs that only
/// ask, or answer for themselves, by its name (docs/decisions/0081-a-responder-of-our-own.md).
package struct SystemResponder: Hashable, Sendable, CustomStringConvertible {
    /// A process as everybody sees it.
    package struct Process: Hashable, Sendable {
        package let id: Int32
        package let name: String
        package let user: UInt32

        package init(id: Int32, name: String, user: UInt32) { (self.id, self.name, self.user) = (id, name, user) }
    }

    private static let avahi = "avahi-daemon"
    /// Names of processes, as the kernel has them: 15 bytes.
    private static let names: Set = [
        avahi, "mdnsd", "mDNSResponder", "mDNSResponderPo", "systemd-resolve", "umdns",
    ]
    /// The users as which they run, where their processes are not seen.
    private static let users = ["avahi": avahi, "systemd-resolve": "systemd-resolve"]

    package let name: String
    /// Nil where it is hidden from this user.
    package let process: Int32?

    package init(name: String, process: Int32?) { (self.name, self.process) = (name, process) }

    package var isAvahi: Bool { name == Self.avahi }

    /// A text for people, safe for a terminal.
    package var description: String {
        let full = name == "systemd-resolve" ? "systemd-resolved" : name
        return process.map { "\(full) (pid \($0))" } ?? full
    }

    /// Whether a user's program can answer for the machine: the system's can, and this user's own. Any other user could give a program of his
    /// such a name, and keep everybody from publishing. Numbers from 1000 on are people's, but for nobody's (login.defs(5), UID_MIN).
    private static func isTrusted(_ user: UInt32) -> Bool { user < 1000 || user == 65_534 || user == getuid() }

    /// Those that hold UDP port 5353 now.
    package static var all: [SystemResponder] {
        let holders = PortHolder.holders(of: PortHolder.multicastDNS)
        guard !holders.isEmpty else { return [] }
        let isHidden = holders.contains { $0.process == nil }
        return all(of: holders, processes: isHidden ? processes() : []) { Accounts.userName(of: $0) }
    }

    /// - Parameters:
    ///   - holders: what holds the port.
    ///   - processes: where a holder is hidden, this machine's processes of these names.
    static func all(
        of holders: [PortHolder], processes: [Process], userName: (UInt32) -> String?
    ) -> [SystemResponder] {
        var found: [SystemResponder] = []
        for holder in holders where isTrusted(holder.user) {
            let responder: SystemResponder?
            if let process = holder.process {
                let name = holder.name.map { String($0.prefix(ProcessName.kept)) }
                responder = name.flatMap { names.contains($0) ? SystemResponder(name: $0, process: process) : nil }
            } else if let process = processes.first(where: { $0.user == holder.user && names.contains($0.name) }) {
                // Whose files are hidden from this user: its name and its user are not.
                responder = SystemResponder(name: process.name, process: process.id)
            } else {
                responder = userName(holder.user).flatMap { users[$0] }.map {
                    SystemResponder(name: $0, process: nil)
                }
            }
            if let responder, !found.contains(responder) { found.append(responder) }
        }
        return found
    }

    private static func processes() -> [Process] {
        ((try? SystemFile.names(in: "/proc")) ?? []).compactMap { entry in
            guard let id = Int32(entry),
                let name = ProcessName.asKept(of: id), names.contains(name),
                let line = SystemFile.lines(of: "/proc/\(id)/status")?.first(where: { $0.hasPrefix("Uid:") }),
                let user = line.split(whereSeparator: \.isWhitespace).dropFirst(2).first.flatMap({ UInt32($0) })
            else { return nil }
            return Process(id: id, name: name, user: user)
        }
    }
}
