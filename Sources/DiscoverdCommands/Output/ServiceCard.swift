#if Commands
internal import CommandFrame
internal import DNSSD
internal import DiscoveryControl
internal import PeerIdentity

/// One service for people: a line for each known property.
struct ServiceCard {
    private let service: DiscoveredService
    private let key: KeyState?

    /// - Parameter key: what is known of the key that it had last.
    init(_ service: DiscoveredService, key: KeyState? = nil) {
        self.service = service
        self.key = key
    }

    /// Prints a label and a value per line; each address and TXT string has its own line.
    func show(in session: Session) throws {
        try line("name", service.instance.name, in: session)
        try line("type", service.instance.type, in: session)
        try line("domain", service.instance.domain, in: session)
        if let host = service.host { try line("host", host, in: session) }
        try line("port", service.port?.description ?? "none: the service is not offered now", in: session)
        for entry in service.txt.entries { try line("txt", entry.readable.escapedForTerminal, in: session) }
        if let key { try line("key", key.rawValue, in: session) }
        for endpoint in service.endpoints {
            var record = Record()
            record.add("endpoint", width: 8)
            record.add(safe: endpoint, width: 40)
            record.add(endpoint.interface?.name ?? "-", width: 0)
            try session.output.line(record.line(for: session.terminal))
        }
    }

    private func line(_ label: String, _ value: some CustomStringConvertible, in session: Session) throws {
        var record = Record()
        record.add(label, width: 8)
        record.add(safe: value, width: 0)
        try session.output.line(record.line(for: session.terminal))
    }
}

extension Duration {
    /// Seconds, for people: `2`, `0.5`.
    var inSeconds: String {
        let (whole, part) = milliseconds.quotientAndRemainder(dividingBy: 1000)
        guard part != 0 else { return "\(whole)" }
        var digits = String(String(1000 + part).dropFirst())
        while digits.hasSuffix("0") { digits.removeLast() }
        return "\(whole).\(digits)"
    }
}
#endif
