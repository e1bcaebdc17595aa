#if Commands
internal import CommandFrame
internal import CommandText
internal import DNSSD
internal import DiscoveryControl
internal import DiscoveryJSON
internal import Libc
internal import PeerIdentity

/// Prints services as JSON lines, or as one record a line for people.
struct ServicePrinter {
    private let session: Session
    private let detail: ServiceDetail
    private let table: Table
    private let keys: KeyStates
    /// On a terminal each line says whether the service's key is known.
    private let showsKeys: Bool
    private let hasTimes: Bool

    /// - Parameters:
    ///   - tellsEvents: each line begins with the event.
    ///   - hasDomain: on a terminal, each line includes the domain.
    ///   - hasType: services of several types are shown; on a terminal, each line includes the type.
    ///   - hasTimes: each line begins with the time of day.
    init(
        session: Session, detail: ServiceDetail, tellsEvents: Bool = true, hasType: Bool, hasDomain: Bool = false,
        hasTimes: Bool = false
    ) {
        self.session = session
        self.detail = detail
        self.hasTimes = hasTimes
        keys = KeyStates(session.more?.hmac)
        // A pipe keeps its columns; programs read JSON.
        showsKeys = detail == .full && !keys.isEmpty && session.terminal.isInteractive
        table = Table(
            ServiceColumns(
                detail, tellsEvents: tellsEvents, hasType: hasType, hasDomain: hasDomain, showsKeys: showsKeys,
                hasTimes: hasTimes
            ).all)
    }

    /// Prints that a service was found, changed or lost, or that the initial list is complete.
    func show(_ event: ServiceEvent) throws {
        if session.json {
            return try session.output.json { $0.line(event, detail: detail) { keys.state(of: $0)?.rawValue } }
        }
        switch event {
        case .found(let service): try line("+", .green, service)
        case .changed(let service): try line("~", .yellow, service)
        case .lost(let service): try line("-", .red, service)
        case .settled, .backend, .degraded: break
        }
    }

    /// Prints a service on its own, without an event.
    func show(_ service: DiscoveredService) throws {
        if session.json {
            try session.output.json(.service) { json in
                json.service(service, detail: detail, keyState: keys.state(of: service.instance)?.rawValue)
                json.endLine()
            }
        } else {
            try line(nil, nil, service)
        }
    }

    private func line(_ sign: String?, _ colour: Colour?, _ service: DiscoveredService) throws {
        let key = showsKeys ? [keys.state(of: service.instance)?.rawValue ?? ""] : []
        let time = hasTimes ? [ClockTime.now.description] : []
        let fields = time + (sign.map { [$0] } ?? []) + service.textFields(detail) + key
        try table.show(fields, colour: colour, of: time.count, in: session)
    }
}

/// The time of day, as `14:05:09.123`.
private struct ClockTime: CustomStringConvertible {
    let description: String

    static var now: ClockTime {
        var time = timespec()
        var parts = unsafe tm()
        guard unsafe clock_gettime(CLOCK_REALTIME, &time) == 0, unsafe localtime_r(&time.tv_sec, &parts) != nil else {
            return ClockTime(description: "-")
        }
        let (hour, minute, second) = unsafe (Int(parts.tm_hour), Int(parts.tm_min), Int(parts.tm_sec))
        let fields = [(hour, 2), (minute, 2), (second, 2), (time.tv_nsec / 1_000_000, 3)]
        let texts = fields.map { String(repeating: "0", count: max(0, $0.1 - "\($0.0)".count)) + "\($0.0)" }
        return ClockTime(description: "\(texts[0]):\(texts[1]):\(texts[2]).\(texts[3])")
    }
}

/// The columns of services on a terminal, in the order of `DiscoveredService.textFields`, with the event before and the key's state after them.
struct ServiceColumns {
    let all: [ColumnLayout.Column?]

    /// - Parameters:
    ///   - tellsEvents: each line begins with the event.
    ///   - hasType: services of several types are shown.
    ///   - hasDomain: services of several domains are.
    ///   - showsKeys: each line ends with the state of the service's key.
    ///   - hasTimes: each line begins with the time.
    init(
        _ detail: ServiceDetail, tellsEvents: Bool, hasType: Bool, hasDomain: Bool, showsKeys: Bool,
        hasTimes: Bool = false
    ) {
        let event: [ColumnLayout.Column?] = (hasTimes ? [.init("TIME", 12)] : []) + (tellsEvents ? [.init("", 1)] : [])
        let identity: [ColumnLayout.Column?] = [
            .init("NAME", 10, upTo: detail == .full ? 40 : 63, weight: 4),
            hasType ? .init("TYPE", 10, upTo: 22, weight: 2) : nil,
            hasDomain ? .init("DOMAIN", 10, upTo: 40, weight: 2) : nil,
            .init("IF", 4, upTo: detail == .full ? 12 : 63),
        ]
        let full: [ColumnLayout.Column?] = [
            .init("HOST", 8, upTo: 30, weight: 2), .init("PORT", 5), .init("ADDRESS", 10, upTo: 45, weight: 3),
            .init("TXT", 4, upTo: 4096, weight: 2),
        ]
        all = event + identity + (detail == .full ? full : []) + (showsKeys ? [.init("KEY", 7)] : [])
    }
}

/// Services as a table: on a terminal, one line each under a header, fitted to its width; in a pipe, all fields in full, separated by tabs.
/// For use by one task.
final class Table {
    /// A column for each field; nil for fields shown only in a pipe.
    private let columns: [ColumnLayout.Column?]
    private var isHeaderShown = false

    init(_ columns: [ColumnLayout.Column?]) { self.columns = columns }

    /// Writes a line.
    /// - Parameters:
    ///   - fields: safe for a terminal, one for each column.
    ///   - colour: of the field at `index`.
    func show(_ fields: [String], colour: Colour? = nil, of index: Int = 0, in session: Session) throws {
        let terminal = session.terminal
        guard terminal.isInteractive else { return try session.output.line(fields.joined(separator: "\t")) }
        // Asked every time, because a terminal can be resized.
        let layout = ColumnLayout(columns.compactMap(\.self), in: terminal.columns)
        if !isHeaderShown {
            isHeaderShown = true
            try session.output.line(layout.header(isUTF8: terminal.isUTF8))
        }
        var cells = layout.cells(zip(columns, fields).filter { $0.0 != nil }.map(\.1), isUTF8: terminal.isUTF8)
        if let colour, cells.indices.contains(index) { cells[index] = terminal.paint(cells[index], colour) }
        try session.output.line(cells.joined(separator: " "))
    }
}

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
        for record in records { try session.show(record) }
        let names = Set(hosts.map(\.text)).sorted()
        // Several SRV records are usual in the zones of DNS servers (RFC 2782).
        guard hosts.count > 1, service.instance.domain == .local else { return }
        session.notices.notice(
            "\(names.count) hosts claim this name: \(names.map(\.escapedForTerminal).joined(separator: ", ")); "
                + "'discoverd doctor NAME' tells who says what")
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
            var record = Record(
                .init("endpoint", 8), .init(safe: endpoint, 40), .init(endpoint.interface?.name ?? "-", 0))
            if hosts.count > 1, let target = endpoint.target { record.fields.append(.init(safe: target.host, 0)) }
            records.append(record)
        }
        return records
    }

    private var noPort: String {
        service.state == .found ? "not known yet" : "none: the service is not offered now"
    }

    private func record(_ label: String, _ value: some CustomStringConvertible) -> Record {
        Record(.init(label, 8), .init(safe: value, 0))
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
