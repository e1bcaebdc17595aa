/// Who listens on UDP 5353. A second mDNS stack takes unicast answers away from avahi-daemon and may claim the same names.
enum ResponderCheck {
    static func run() -> [Finding] {
        let sockets = ["/proc/net/udp", "/proc/net/udp6"].flatMap(MulticastSocket.listening)
        guard !sockets.isEmpty else {
            return [
                Finding(
                    "responder",
                    .warn,
                    "nobody listens on UDP port 5353",
                    advice: "Start avahi-daemon, or look into its log for why it does not: journalctl -u avahi-daemon."
                )
            ]
        }
        let owners = SocketOwners.find(Set(sockets.map(\.inode)))
        var names = Set(owners.values)
        let hasUnknown = sockets.contains { owners[$0.inode] == nil }
        let avahi = names.remove("avahi-daemon") != nil
        var findings = names.sorted().map(other)
        if avahi { findings.insert(Finding("responder", .ok, "avahi-daemon listens on UDP port 5353"), at: 0) }
        if hasUnknown {
            let users = Set(sockets.filter { owners[$0.inode] == nil }.map(\.user)).sorted()
                .map(String.init).joined(separator: ", ")
            findings.append(
                Finding(
                    "responder",
                    avahi ? .warn : .ok,
                    "\(avahi ? "another process" : "a process") of user \(users) listens on UDP port 5353",
                    advice: "Run 'discoverd doctor' as root to see which."
                )
            )
        }
        return findings
    }

    private static func other(_ name: String) -> Finding {
        let advice =
            name.hasPrefix("systemd-resolve")
            ? "Set MulticastDNS=no in /etc/systemd/resolved.conf and restart systemd-resolved."
            : "Two mDNS stacks on a host disturb each other: stop one, or let it use avahi-daemon."
        return Finding("responder", .warn, "\(name) listens on UDP port 5353 too", advice: advice)
    }
}

/// A UDP socket on port 5353.
struct MulticastSocket {
    let inode: String
    let user: Int

    /// The sockets in a table of the kernel's (proc(5), `/proc/net/udp`).
    static func listening(in table: String) -> [MulticastSocket] {
        (SystemFiles.lines(table) ?? []).dropFirst().compactMap { line in
            let fields = line.split(separator: " ")
            // 5353 in hexadecimal.
            guard fields.count > 9, fields[1].hasSuffix(":14E9"), let user = Int(fields[7]) else { return nil }
            return MulticastSocket(inode: String(fields[9]), user: user)
        }
    }
}
