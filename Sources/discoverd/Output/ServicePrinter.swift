internal import DNSSD
internal import DiscoveryControl
internal import DiscoveryJSON

/// How services are shown: JSON lines, or one record a line for people.
struct ServicePrinter {
    let session: Session
    let detail: ServiceDetail

    /// A service was found, changed or lost; or everything known at the start has been told.
    func show(_ event: ServiceEvent) throws {
        if session.json { return try session.output.json { $0.line(event, detail: detail) } }
        switch event {
        case .found(let service): try line("+", .green, service)
        case .changed(let service): try line("~", .yellow, service)
        case .lost(let service): try line("-", .red, service)
        case .settled, .backend, .degraded: break
        }
    }

    /// A service alone, without anything having happened to it.
    func show(_ service: DiscoveredService) throws {
        if session.json {
            try session.output.json { json in
                json.service(service, detail: detail)
                json.endLine()
            }
        } else {
            try line(nil, nil, service)
        }
    }

    /// A line of `/v1/services?format=text`, with its columns aligned.
    func show(text: Substring) throws {
        var record = Record()
        let fields = text.split(separator: "\t", omittingEmptySubsequences: false)
        record.add(safe: fields.first ?? "", width: 1, colour: .green)
        for (field, width) in zip(fields.dropFirst(), DiscoveredService.textWidths) {
            record.add(safe: field, width: width)
        }
        try session.output.line(record.line(for: session.terminal))
    }

    private func line(_ sign: String?, _ colour: Colour?, _ service: DiscoveredService) throws {
        var record = Record()
        if let sign { record.add(sign, width: 1, colour: colour) }
        for (field, width) in zip(service.textFields(detail), DiscoveredService.textWidths) {
            record.add(safe: field, width: width)
        }
        try session.output.line(record.line(for: session.terminal))
    }
}
