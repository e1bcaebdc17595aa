internal import DiscoverySystem

/// The daemon's counters, which are read on request. Bounded in series.
package final class MetricsRegistry: Sendable {
    private struct Series: Hashable {
        let name: String
        let labels: [String]
    }

    private static let limit = 1000

    private let counts = Locked<[Series: Int64]>([:])

    package init() {}

    /// Counts one more of `name`; labels are pairs of name and value.
    package func count(_ name: String, _ labels: [(String, String)]) {
        let series = Series(name: name, labels: labels.flatMap { [$0.0, $0.1] })
        counts.withLock { counts in
            guard counts[series] != nil || counts.count < Self.limit else { return }
            counts[series, default: 0] &+= 1
        }
    }

    /// Counts an answer of the control server.
    func counted(_ route: String, _ answer: ControlAnswer) {
        let status =
            switch answer {
            case .whole(let status, _, _, _): status
            case .lines(let status, _), .pieces(let status, _, _): status
            }
        // A request for something that does not exist must not create a series.
        let route = status == 404 || status == 400 ? "other" : route
        count("discoverd_requests_total", [("path", "/" + route), ("status", String(status))])
    }

    /// Counts a connection that the control server refused or closed.
    func dropped(_ reason: String) { count("discoverd_connections_dropped_total", [("reason", reason)]) }

    /// Writes all series.
    package func write(to text: inout PrometheusText) {
        let all = counts.withLock { $0 }.sorted {
            ($0.key.name, $0.key.labels.joined()) < ($1.key.name, $1.key.labels.joined())
        }
        for (series, count) in all {
            let pairs = stride(from: 0, to: series.labels.count - 1, by: 2).map {
                (series.labels[$0], series.labels[$0 + 1])
            }
            text.describe(series.name, .counter, "Counted since the start.")
            text.sample(series.name, pairs, Double(count))
        }
    }
}
