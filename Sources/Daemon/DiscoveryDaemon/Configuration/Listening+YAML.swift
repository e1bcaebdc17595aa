internal import DNSSD

extension TCPListen {
    /// `9331` (on loopback), `127.0.0.1:9331`, `"[::1]:9331"`, or a mapping of these under `address` with `hosts`.
    init(_ value: YAMLValue) throws(ConfigurationError) {
        guard value.isMapping else {
            self = try Self.parse(value)
            return
        }
        let mapping = try YAMLMapping(value, keys: ["address", "hosts"])
        self = try Self.parse(try mapping.required("address"))
        for entry in try mapping["hosts"]?.list(atMost: 64) ?? [] {
            hosts.append(try entry.parsed(HostName.init(_:)).text.lowercased())
        }
    }

    private static func parse(_ value: YAMLValue) throws(ConfigurationError) -> TCPListen {
        let text = try value.text()
        guard let place = Listening.place(text.contains(":") ? text : "127.0.0.1:\(text)") else {
            throw value.error(
                "\(value.name) must be a port, or an IP address and a port as 127.0.0.1:9331 or \"[::1]:9331\", "
                    + "not \(text.quotedForMessage)")
        }
        return TCPListen(address: place.address, port: place.port)
    }
}

enum Listening {
    /// `127.0.0.1:9331`, `[::1]:9331`.
    static func place(_ text: String) -> (address: IPAddress, port: Port)? {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        var address = String(text[..<colon])
        let isBracketed = address.hasPrefix("[") && address.hasSuffix("]")
        guard isBracketed == address.contains(":") else { return nil }
        if isBracketed { address = String(address.dropFirst().dropLast()) }
        let digits = text[text.index(after: colon)...]
        guard digits.first != "+", let number = UInt16(digits), let port = Port(rawValue: number),
            let parsed = IPAddress(address)
        else { return nil }
        return (parsed, port)
    }
}

extension DNSListen {
    /// `127.0.0.55`, `127.0.0.55:5300`, `::1`, `"[::1]:5300"`.
    init(_ value: YAMLValue) throws(ConfigurationError) {
        let text = try value.text()
        let place =
            IPAddress(text).map { ($0, Self.standardPort) }
            ?? Listening.place(text).map { ($0.address, $0.port.rawValue) }
        guard let place else {
            throw value.error(
                "\(value.name) must be an IP address, or one with a port as 127.0.0.55:5300 or \"[::1]:5300\", "
                    + "not \(text.quotedForMessage)")
        }
        (address, port) = place
        guard !address.isUnspecified, !address.isMulticast, !address.isBroadcast, !address.isIPv4Mapped else {
            throw value.error("\(value.name) must be one of this machine's addresses, not \(text.quotedForMessage)")
        }
        guard address.family == .ipv4 || !address.isLinkLocal else {
            throw value.error("\(text.quotedForMessage) is link-local: DNS servers are not asked there")
        }
        guard port != Self.multicastPort else {
            throw value.error("port 5353 is multicast DNS's own")
        }
    }

    static func list(_ value: YAMLValue) throws(ConfigurationError) -> [DNSListen] {
        var all: [DNSListen] = []
        for entry in try value.list(atMost: 16) {
            value.faults.reading { () throws(ConfigurationError) in
                let listen = try DNSListen(entry)
                if all.contains(listen) { throw entry.error("\(listen) is there twice") }
                all.append(listen)
            }
        }
        return all
    }
}

extension ConnectionTable.Limits {
    /// The keys of `limits:`; `AccessRules` reads the quotas.
    static let keys = [
        "clients", "clients-per-user", "request-bytes", "watch-queue-bytes", "services-per-user", "services-of-root",
    ]

    init(_ value: YAMLValue) throws(ConfigurationError) {
        self.init()
        let mapping = try YAMLMapping(value, keys: Self.keys)
        if let value = mapping["clients"] { clients = try value.integer(in: 1...1024) }
        if let value = mapping["clients-per-user"] { perUser = try value.integer(in: 1...1024) }
        if let value = mapping["request-bytes"] { requestBytes = try value.integer(in: 1024...1_048_576) }
        if let value = mapping["watch-queue-bytes"] { watchBytes = try value.integer(in: 4096...67_108_864) }
    }
}
