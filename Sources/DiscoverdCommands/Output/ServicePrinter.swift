#if Commands
internal import CommandFrame
internal import DNSSD
internal import DiscoveryControl
internal import DiscoveryJSON
internal import PeerIdentity

/// Prints services as JSON lines, or as one record a line for people.
struct ServicePrinter {
    private let session: Session
    private let detail: ServiceDetail
    private let table: Table
    private let keys: KeyStates
    /// On a terminal each line says whether the service's key is known.
    let showsKeys: Bool

    /// - Parameters:
    ///   - tellsEvents: each line begins with the event.
    ///   - hasDomain: on a terminal, each line includes the domain.
    ///   - hasType: services of several types are shown; on a terminal, each line includes the type.
    init(session: Session, detail: ServiceDetail, tellsEvents: Bool = true, hasType: Bool, hasDomain: Bool = false) {
        self.session = session
        self.detail = detail
        keys = KeyStates(session.more?.hmac)
        // A pipe keeps its columns; programs read JSON.
        showsKeys = detail == .full && !keys.isEmpty && session.terminal.isInteractive
        table = Table(
            ServiceColumns(
                detail, tellsEvents: tellsEvents, hasType: hasType, hasDomain: hasDomain, showsKeys: showsKeys
            ).all)
    }

    /// What is known of services is shown: a daemon's lines are not enough.
    var addsKeys: Bool { session.json ? !keys.isEmpty : showsKeys }

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
            try session.output.json { json in
                json.service(service, detail: detail, keyState: keys.state(of: service.instance)?.rawValue)
                json.endLine()
            }
        } else {
            try line(nil, nil, service)
        }
    }

    /// Prints a line of `/v1/services?format=text`, fitted to the terminal.
    func show(text: Substring) throws {
        let fields = text.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        try table.show(fields, colour: .green, in: session)
    }

    private func line(_ sign: String?, _ colour: Colour?, _ service: DiscoveredService) throws {
        let key = showsKeys ? [keys.state(of: service.instance)?.rawValue ?? ""] : []
        try table.show((sign.map { [$0] } ?? []) + service.textFields(detail) + key, colour: colour, in: session)
    }
}
#endif
