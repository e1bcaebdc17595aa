#if Commands
internal import CommandFrame
internal import DNSSD
internal import Discovery
internal import DiscoveryJSON

/// Prints how connecting went, for people or as a line of JSON.
struct EstablishmentPrinter {
    let session: Session
    let report: EstablishmentReport

    /// Prints to standard error: standard output belongs to the connection.
    func showOnStandardError(_ error: DiscoveryError?) {
        guard let version = session.jsonVersion else {
            return ProgramNotices.write(lines.map { "discoverd: \($0)\n" }.joined())
        }
        ProgramNotices.write(version.line { $0.establishmentLine(report, error: error) })
    }

    /// Prints the result of `--probe` to standard output. Without JSON, a failure is reported only as an error.
    func show(_ error: DiscoveryError?) throws {
        if session.json {
            try session.output.json { $0.establishmentLine(report, error: error) }
        } else if error == nil, let winner = report.winner {
            let record = Record(
                .init(safe: winner, 40), .init(winner.interface?.name ?? "-", 8),
                .init("\(report.duration.milliseconds) ms", 0))
            try session.show(record)
        }
        try session.output.flush()
    }

    private var lines: [String] {
        var lines: [String] = []
        if let service = report.service, let resolving = report.resolving {
            let host = service.host.map { " on \($0)" } ?? ""
            let source = "addresses \(report.source.rawValue) in \(resolving.inMilliseconds)"
            lines.append("\(service.instance)\(host): \(source)")
        }
        for attempt in report.attempts {
            let start = attempt.start.map { "at \($0.inMilliseconds)" } ?? "not dialled"
            let reason = attempt.reason.map { ": \($0)" } ?? ""
            let outcome = "\(attempt.outcome.rawValue) after \(attempt.duration.inMilliseconds)"
            lines.append("  \(attempt.endpoint) \(start), \(outcome)\(reason)")
        }
        if let winner = report.winner {
            lines.append("connected to \(winner) in \(report.duration.inMilliseconds)")
        } else {
            lines.append("not connected, after \(report.duration.inMilliseconds)")
        }
        return lines
    }
}

extension Duration {
    fileprivate var inMilliseconds: String { "\(milliseconds) ms" }
}
#endif
