package import DNSSD
import DiscoverySystem
import Libc

/// The settings of /etc/resolv.conf (resolv.conf(5)).
package struct ResolverSettings: Hashable, Sendable {
    /// The most servers that are asked; the C library has the same limit.
    private static let maximumServers = 3
    /// The most search domains that are read.
    private static let maximumDomains = 32

    /// The servers that the file names.
    private var named: [ServerAddress] = []
    /// The servers to ask, in order; this machine if the file names none.
    package var servers: [ServerAddress] { namesServers ? named : Self.local }
    /// Whether the file names servers.
    package var namesServers: Bool { !named.isEmpty }
    /// The search domains.
    package var search: [Domain] = []
    /// How long to wait for one server; nil if not set.
    package var timeout: Duration?
    /// How often to ask each server; nil if not set.
    package var attempts: Int?
    /// `trust-ad`: whether to trust the servers' AD flag.
    package var isTrusted = false
    /// How many servers the file names with an interface, which may not be there yet, or come again as another.
    private(set) var countOnInterfaces = 0

    private static let local: [ServerAddress] =
        if let address = IPAddress("127.0.0.1"), let port = Port(rawValue: 53) {
            [ServerAddress(address, port: port)]
        } else {
            []
        }

    /// Reads the file's text; other lines are ignored.
    /// - Parameters:
    ///   - text: the file's text.
    ///   - interface: returns the index of an interface, by name or number; 0 or nil if there is none.
    package init(parsing text: String, interface: (String) -> UInt32? = { UInt32($0) }) {
        for line in text.utf8.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            let words = line.split { $0 == 0x20 || $0 == 0x09 }.map { String(Substring($0)) }
            guard let keyword = words.first else { continue }
            switch keyword {
            case "nameserver" where words.count > 1 && named.count < Self.maximumServers:
                if words[1].utf8.contains(UInt8(ascii: "%")) { countOnInterfaces += 1 }
                if let address = Self.address(words[1], interface), let port = Port(rawValue: 53) {
                    named.append(ServerAddress(address, port: port))
                }
            // Of several such lines the last counts.
            case "domain", "search":
                search = words.dropFirst().prefix(Self.maximumDomains).compactMap { try? Domain($0) }
            case "options": for option in words.dropFirst() { read(option: option) }
            default: break
            }
        }
    }

    private mutating func read(option: String) {
        let parts = option.split(separator: ":", maxSplits: 1)
        let number = parts.count == 2 ? Int(parts[1]) : nil
        switch parts.first {
        // The C library has the same limits.
        case "timeout": timeout = number.map { .seconds(min(max($0, 1), 30)) } ?? timeout
        case "attempts": attempts = number.map { min(max($0, 1), 5) } ?? attempts
        case "trust-ad": isTrusted = true
        default: break
        }
    }

    /// Reads an address with or without a scope, such as `fe80::1%eth0`.
    private static func address(_ text: String, _ interface: (String) -> UInt32?) -> IPAddress? {
        let parts = text.split(separator: "%", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { return IPAddress(text) }
        guard let index = interface(parts[1]), index > 0 else { return nil }
        return IPAddress("\(parts[0])%\(index)")
    }
}

/// Reads /etc/resolv.conf, again whenever it has changed, or an interface that it names may have. May be used from any thread.
package final class ResolverFile: Sendable {
    /// The file's metadata, which shows whether it has changed.
    private struct Version: Hashable {
        var device: UInt64
        var inode: UInt64
        var size: Int64
        var seconds: Int
        var nanoseconds: Int
    }

    private struct State: Sendable {
        var version: Version?
        var settings = ResolverSettings(parsing: "")
    }

    private let path: String
    private let interface: @Sendable (String) -> UInt32?
    private let state = Locked(State())

    /// Creates a reader of this machine's file, or of another one.
    package convenience init(path: String = "/etc/resolv.conf") {
        self.init(path: path) { name in
            if let number = UInt32(name) { return number }
            return unsafe if_nametoindex(name)
        }
    }

    /// - Parameters:
    ///   - path: the file.
    ///   - interface: as of `ResolverSettings`.
    init(path: String, interface: @escaping @Sendable (String) -> UInt32?) {
        (self.path, self.interface) = (path, interface)
    }

    /// The current settings. An empty or missing file names this machine as the server.
    package var settings: ResolverSettings {
        let version = version
        return state.withLock { state in
            if version == nil || version != state.version || state.settings.countOnInterfaces > 0 {
                let text = (try? SystemFile.read(path, atMost: 64 << 10)).map { String(decoding: $0, as: UTF8.self) }
                state.settings = ResolverSettings(parsing: text ?? "", interface: interface)
                state.version = version
            }
            return state.settings
        }
    }

    private var version: Version? {
        var info = stat()
        guard unsafe stat(path, &info) == 0 else { return nil }
        return Version(
            device: UInt64(info.st_dev), inode: UInt64(info.st_ino), size: Int64(info.st_size),
            seconds: info.st_mtim.tv_sec, nanoseconds: info.st_mtim.tv_nsec)
    }
}
