package import DNSSD

/// What /etc/resolv.conf says (resolv.conf(5)).
package struct ResolverSettings: Hashable, Sendable {
    /// More servers than these are not asked, as the C library does not.
    private static let maximumServers = 3
    /// More search domains than these are not looked at.
    private static let maximumDomains = 32

    /// Whom to ask, in order; this machine where none is named.
    package var servers: [ServerAddress] = []
    /// The domains that host names are looked up in.
    package var search: [Domain] = []
    /// How long one server is waited for; nil where it does not say.
    package var timeout: Duration?
    /// How often each server is asked; nil where it does not say.
    package var attempts: Int?
    /// `trust-ad`: what the servers say of DNSSEC counts.
    package var isTrusted = false

    /// Reads the file's text; lines that say nothing of these are left alone.
    package init(parsing text: String, interface: (String) -> UInt32? = { UInt32($0) }) {
        for line in text.utf8.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            let words = line.split { $0 == 0x20 || $0 == 0x09 }.map { String(Substring($0)) }
            guard let keyword = words.first else { continue }
            switch keyword {
            case "nameserver" where words.count > 1 && servers.count < Self.maximumServers:
                if let address = Self.address(words[1], interface), let port = Port(rawValue: 53) {
                    servers.append(ServerAddress(address, port: port))
                }
            // The last of these lines counts.
            case "domain", "search":
                search = words.dropFirst().prefix(Self.maximumDomains).compactMap { try? Domain($0) }
            case "options": for option in words.dropFirst() { read(option: option) }
            default: break
            }
        }
        if servers.isEmpty, let address = IPAddress("127.0.0.1"), let port = Port(rawValue: 53) {
            servers = [ServerAddress(address, port: port)]
        }
    }

    private mutating func read(option: String) {
        let parts = option.split(separator: ":", maxSplits: 1)
        let number = parts.count == 2 ? Int(parts[1]) : nil
        switch parts.first {
        // The limits of the C library.
        case "timeout": timeout = number.map { .seconds(min(max($0, 1), 30)) } ?? timeout
        case "attempts": attempts = number.map { min(max($0, 1), 5) } ?? attempts
        case "trust-ad": isTrusted = true
        default: break
        }
    }

    /// An address, perhaps with a scope: `fe80::1%eth0`.
    private static func address(_ text: String, _ interface: (String) -> UInt32?) -> IPAddress? {
        let parts = text.split(separator: "%", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { return IPAddress(text) }
        return interface(parts[1]).flatMap { IPAddress("\(parts[0])%\($0)") }
    }
}
