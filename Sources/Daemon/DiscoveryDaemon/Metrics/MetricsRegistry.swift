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
        // A request for something that does not exist, or that cannot be done with it, must not create a series.
        let route = [400, 404, 405].contains(status) ? "other" : route
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

/// Prometheus' text format, version 0.0.4.
package struct PrometheusText: Sendable {
    /// What a metric is.
    package enum Kind: String, Sendable {
        case counter, gauge
    }

    /// What is served as.
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    private var text = ""
    private var described: Set<String> = []

    package init() {}

    package var bytes: [UInt8] { Array(text.utf8) }

    /// Adds a metric's description, which comes once, before its samples.
    package mutating func describe(_ name: String, _ kind: Kind, _ help: String) {
        guard described.insert(name).inserted else { return }
        text += "# HELP \(name) \(Self.escape(help, quotes: false))\n# TYPE \(name) \(kind.rawValue)\n"
    }

    /// Adds a sample.
    package mutating func sample(_ name: String, _ labels: [(String, String)] = [], _ value: Double) {
        text += name
        if !labels.isEmpty {
            let pairs = labels.map { "\(Self.labelName($0.0))=\"\(Self.escape($0.1, quotes: true))\"" }
            text += "{\(pairs.joined(separator: ","))}"
        }
        let whole = Int64(exactly: value)
        text += " \(whole.map(String.init) ?? "\(value)")\n"
    }

    /// Adds a metric of one sample.
    package mutating func add(
        _ name: String, _ kind: Kind, _ help: String, _ value: Double, _ labels: [(String, String)] = []
    ) {
        describe(name, kind, help)
        sample(name, labels, value)
    }

    /// A name that a label may have: letters, digits and underscores, no digit first.
    package static func labelName(_ text: String) -> String {
        var name = ""
        for byte in text.utf8 {
            switch byte {
            case 0x61...0x7A, 0x41...0x5A, 0x5F: name.unicodeScalars.append(Unicode.Scalar(byte))
            case 0x30...0x39:
                if name.isEmpty { name = "_" }
                name.unicodeScalars.append(Unicode.Scalar(byte))
            default: name += "_"
            }
        }
        return name.isEmpty ? "_" : name
    }

    private static func escape(_ text: String, quotes: Bool) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\"" where quotes: escaped += "\\\""
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
