public import DNSSD

extension ServerName {
    /// Reads `10.0.0.53`, `ns.example.org`, `ns.example.org:5353`, `fd00::53` or `[fd00::53]:5353`; the port defaults
    /// to 53.
    /// - Throws: `.invalidHostName` or `.invalidPort`.
    public init(_ text: String) throws(DiscoveryError) {
        let standard = try Port(53)
        if let address = IPAddress(text) {
            self.init(.address(address), port: standard)
            return
        }
        let (host, port) = try Self.split(text)
        let number = try port.map { text throws(DiscoveryError) in try Port(Int(text) ?? 0) } ?? standard
        if let address = IPAddress(host) {
            self.init(.address(address), port: number)
        } else {
            self.init(.name(try HostName(host)), port: number)
        }
    }

    private static func split(_ text: String) throws(DiscoveryError) -> (host: String, port: String?) {
        if text.hasPrefix("["), let end = text.lastIndex(of: "]") {
            let host = String(text[..<end].dropFirst())
            let rest = text[text.index(after: end)...]
            guard IPAddress(host) != nil, rest.isEmpty || rest.hasPrefix(":") else {
                throw DiscoveryError(
                    .invalidHostName, "\(text.quotedForMessage): no IPv6 address in brackets, as [fd00::53]:53")
            }
            return (host, rest.isEmpty ? nil : String(rest.dropFirst()))
        }
        guard let colon = text.firstIndex(of: ":") else { return (text, nil) }
        guard !text.hasPrefix("["), colon == text.lastIndex(of: ":") else {
            throw DiscoveryError(.invalidHostName, "\(text.quotedForMessage): neither an address nor a host name")
        }
        return (String(text[..<colon]), String(text[colon...].dropFirst()))
    }
}

extension ServerName: CustomStringConvertible {
    /// The host, with the port unless it is 53; safe for a terminal.
    public var description: String {
        let host =
            switch host {
            case .address(let address):
                address.family == .ipv6 && port.rawValue != 53 ? "[\(address)]" : "\(address)"
            case .name(let name): "\(name)"
            }
        return port.rawValue == 53 ? host : "\(host):\(port)"
    }
}
