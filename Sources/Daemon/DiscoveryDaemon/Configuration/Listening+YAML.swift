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
        let fault = value.error(
            "\(value.name) must be a port, or an IP address and a port as 127.0.0.1:9331 or \"[::1]:9331\", "
                + "not \(text.quotedForMessage)")
        var address = "127.0.0.1"
        var portText = text[...]
        if let colon = text.lastIndex(of: ":") {
            address = String(text[..<colon])
            portText = text[text.index(after: colon)...]
            let isBracketed = address.hasPrefix("[") && address.hasSuffix("]")
            guard isBracketed == address.contains(":") else { throw fault }
            if isBracketed { address = String(address.dropFirst().dropLast()) }
        }
        guard let number = UInt16(portText), let port = Port(rawValue: number),
            let parsed = IPAddress(address)
        else { throw fault }
        return TCPListen(address: parsed, port: port)
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
