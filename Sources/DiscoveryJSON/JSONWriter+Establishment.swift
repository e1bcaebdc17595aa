public import DNSSD
public import Discovery

extension JSONWriter {
    /// Writes how connecting went as one line: `connected`, or `failed` with the error's code and message.
    public mutating func establishmentLine(_ report: EstablishmentReport, error: DiscoveryError? = nil) {
        line(error == nil ? "connected" : "failed") { object in
            object.key("service")
            if let service = report.service { object.service(service, detail: .full) } else { object.null() }
            object.key("endpoint")
            if let winner = report.winner { object.endpoint(winner) } else { object.null() }
            object.member("milliseconds", report.duration.wholeMilliseconds)
            object.member("resolving", report.resolving?.wholeMilliseconds)
            object.member("source", report.source.rawValue)
            object.key("attempts")
            object.array { array in
                for attempt in report.attempts { array.attempt(attempt) }
            }
            if let error {
                object.member("code", error.code.description)
                object.member("reason", error.message)
            }
        }
    }

    private mutating func attempt(_ attempt: EstablishmentReport.Attempt) {
        object { object in
            object.key("endpoint")
            object.endpoint(attempt.endpoint)
            object.member("outcome", attempt.outcome.rawValue)
            object.member("start", attempt.start?.wholeMilliseconds)
            object.member("milliseconds", attempt.duration.wholeMilliseconds)
            object.key("reason")
            if let reason = attempt.reason { object.string(reason) } else { object.null() }
        }
    }
}

extension Duration {
    /// Rounded down.
    fileprivate var wholeMilliseconds: Int {
        Int(components.seconds) * 1000 + Int(components.attoseconds / 1_000_000_000_000_000)
    }
}
