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
        for record in records { try session.output.line(record.line(for: session.terminal)) }
        let names = Set(hosts.map(\.text)).sorted()
        // Several SRV records are usual in the zones of DNS servers (RFC 2782).
        guard hosts.count > 1, service.instance.domain == .local else { return }
        session.notices.notice(
            "\(names.count) hosts claim this name: \(names.map(\.escapedForTerminal).joined(separator: ", ")); "
                + "'discoverd explain' tells who says what")
    }

    /// The hosts that SRV records name, where there are several records.
    private var hosts: Set<HostName> { Set(service.endpoints.compactMap { $0.target?.host }) }

    /// The lines as a terminal shows them, each safe for it.
    var lines: [String] { records.map(\.aligned) }

    private var records: [Record] {
        var records = [
            record("name", service.instance.name), record("type", service.instance.type),
            record("domain", service.instance.domain),
        ]
        if let host = service.host { records.append(record("host", host)) }
        records.append(record("port", service.port?.description ?? noPort))
        records += service.txt.entries.map { record("txt", $0.readable.escapedForTerminal) }
        if let key { records.append(record("key", key.rawValue)) }
        for endpoint in service.endpoints {
            var record = Record()
            record.add("endpoint", width: 8)
            record.add(safe: endpoint, width: 40)
            record.add(endpoint.interface?.name ?? "-", width: 0)
            if hosts.count > 1, let target = endpoint.target { record.add(safe: target.host, width: 0) }
            records.append(record)
        }
        return records
    }

    private var noPort: String {
        service.state == .found ? "not known yet" : "none: the service is not offered now"
    }

    private func record(_ label: String, _ value: some CustomStringConvertible) -> Record {
        var record = Record()
        record.add(label, width: 8)
        record.add(safe: value, width: 0)
        return record
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
