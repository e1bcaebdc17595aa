#if Commands
internal import CommandFrame
internal import DNSMessage
internal import DNSSD
internal import DiscoverySystem
internal import Libc
internal import MulticastEngine

/// Who answers other programs of this machine for names below `local`: at the path where nss-mdns asks, and at the DNS servers of resolv.conf(5).
enum NameServersCheck {
    private static let path = "/run/avahi-daemon/socket"
    private static let patience: Int32 = 1000

    static func run() async -> [DoctorFinding] {
        let usesNSS = HostsLookupCheck.modules(SystemFile.lines(of: "/etc/nsswitch.conf")).isEmpty == false
        let servers = servers(SystemFile.lines(of: "/etc/resolv.conf") ?? [])
        // Each may wait as long as `patience`.
        let answers: (greeting: String?, owners: [(address: IPAddress, owner: Owner)])? =
            try? await BlockingThread.value { (greeting(), servers.map { ($0, owner(at: $0)) }) }
        return [
            ofPath(answers?.greeting, isAsked: usesNSS), ofServers(answers?.owners ?? servers.map { ($0, .silent) }),
        ]
    }

    // MARK: The C library

    /// - Parameters:
    ///   - greeting: what is answered to `HELP`; nil where nobody answers.
    ///   - isAsked: whether nss-mdns is configured.
    static func ofPath(_ greeting: String?, isAsked: Bool) -> DoctorFinding {
        guard let greeting else {
            return DoctorFinding(
                "nss-server", isAsked ? .warn : .skip, "nobody answers at \(path), where nss-mdns asks",
                advice: isAsked ? "Start avahi-daemon, or enable discoverd-nss.socket." : nil)
        }
        let who = greeting.hasPrefix("+ discoverd") ? "discoverd" : "avahi-daemon"
        return DoctorFinding("nss-server", .ok, "\(who) answers at \(path), where nss-mdns asks")
    }

    private static func greeting() -> String? {
        guard let address = SocketAddress(unix: Array(path.utf8)),
            let socket = try? Sockets.connected(to: address)
        else { return nil }
        defer { close(socket) }
        return exchange(Array("HELP\n".utf8), on: socket).map { String(decoding: $0, as: UTF8.self) }
    }

    // MARK: DNS

    /// Whose zone `local` is, at a DNS server.
    enum Owner: Hashable {
        case discoverd
        /// Another one's.
        case others
        /// It knows no such zone.
        case nobody
        case silent
    }

    static func ofServers(_ servers: [(address: IPAddress, owner: Owner)]) -> DoctorFinding {
        func named(_ owner: Owner) -> String? {
            let found = servers.filter { $0.owner == owner }.map { "\($0.address)" }
            return found.isEmpty ? nil : found.joined(separator: ", ")
        }
        if let others = named(.others) {
            return DoctorFinding(
                "dns-server", .warn, "the DNS server at \(others) has a zone local of its own",
                advice: "Programs get its names in the place of the link's: have it answer for another domain.")
        }
        if let own = named(.discoverd) {
            return DoctorFinding("dns-server", .ok, "discoverd answers names below local over DNS at \(own)")
        }
        return DoctorFinding(
            "dns-server", .skip,
            "no DNS server of /etc/resolv.conf knows names below local: programs without nss-mdns may not find them")
    }

    /// The first three, as the C library takes them; without any, this machine.
    static func servers(_ lines: [String]) -> [IPAddress] {
        let named = lines.compactMap { line -> IPAddress? in
            let words = line.split(whereSeparator: \.isWhitespace)
            return words.count > 1 && words[0] == "nameserver" ? IPAddress(String(words[1])) : nil
        }
        return named.isEmpty ? [.v4(IPv4Address(bits: 0x7F00_0001))] : Array(named.prefix(3))
    }

    private static func owner(at server: IPAddress) -> Owner {
        let address = SocketAddress(server, port: 53)
        guard let local = DomainName.ofLinks, let socket = try? Sockets.make(address.family, .datagram) else {
            return .silent
        }
        defer { close(socket) }
        let id = UInt16.random(in: 0 ... .max)
        let query = Message(id: id, flags: .recursionDesired, questions: [Question(local, .soa)])
        guard address.connect(socket) == 0, let bytes = try? query.written(compression: .unicast),
            let answer = exchange(bytes, on: socket), let message = try? Message(reading: answer), message.id == id
        else { return .silent }
        return owner(of: message)
    }

    /// What an answer to "SOA of local" says.
    static func owner(of message: Message) -> Owner {
        if message.answers.contains(where: { $0.type == .soa }) { return .others }
        let start = message.authorities.lazy.compactMap { record -> StartOfAuthority? in
            guard record.name == DomainName.ofLinks, case .soa(let start) = record.data else { return nil }
            return start
        }.first
        guard let start else { return .nobody }
        return start.mailbox.presentation == "nobody.invalid" && start.primary == DomainName.ofLinks
            ? .discoverd : .others
    }

    /// Sends, and waits a second for what comes first.
    private static func exchange(_ bytes: [UInt8], on socket: Int32) -> [UInt8]? {
        guard unsafe send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else { return nil }
        var wanted = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&wanted, 1, patience) == 1 else { return nil }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = unsafe recv(socket, &buffer, buffer.count, 0)
        return count > 0 ? Array(buffer[..<count]) : nil
    }
}
#endif
