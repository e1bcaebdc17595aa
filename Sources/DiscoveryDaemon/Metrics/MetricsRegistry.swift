package import CoreMetrics
internal import Discovery
internal import System

/// A swift-metrics backend whose values are read on request. Bounded in series.
package final class MetricsRegistry: MetricsFactory {
    private struct Key: Hashable {
        let name: String
        let labels: [String]
    }

    private enum Series {
        case counter(Int64)
        case gauge(Double)
        case summary(count: Int64, sum: Double)
    }

    private static let limit = 1000

    private let series = Locked<[Key: Series]>([:])

    package init() {}

    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        Handler(self, label, dimensions)
    }

    package func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        aggregate ? SummaryHandler(self, label, dimensions) : Handler(self, label, dimensions)
    }

    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        SummaryHandler(self, label, dimensions)
    }

    package func destroyCounter(_ handler: any CounterHandler) {}
    package func destroyRecorder(_ handler: any RecorderHandler) {}
    package func destroyTimer(_ handler: any TimerHandler) {}

    /// Counts an answer of the control server.
    func counted(_ route: String, _ answer: ControlAnswer) {
        let status =
            switch answer {
            case .whole(let status, _, _, _): status
            case .lines(let status, _), .pieces(let status, _, _): status
            }
        // A request for something that does not exist must not create a series.
        let route = status == 404 || status == 400 ? "other" : route
        Counter(
            label: "discoverd_requests_total",
            dimensions: [("path", "/" + route), ("status", String(status))],
            factory: self
        ).increment()
    }

    /// Writes all series.
    package func write(to text: inout PrometheusText) {
        let all = series.withLock { $0 }.sorted {
            ($0.key.name, $0.key.labels.joined()) < ($1.key.name, $1.key.labels.joined())
        }
        for (key, value) in all {
            let name = PrometheusText.labelName(key.name)
            let pairs = stride(from: 0, to: key.labels.count - 1, by: 2).map { (key.labels[$0], key.labels[$0 + 1]) }
            switch value {
            case .counter(let count):
                text.describe(name, .counter, "Counted since the start.")
                text.sample(name, pairs, Double(count))
            case .gauge(let value):
                text.describe(name, .gauge, "The value now.")
                text.sample(name, pairs, value)
            case .summary(let count, let sum):
                text.describe(name, .summary, "Seconds, or what is recorded.")
                text.sample(name + "_sum", pairs, sum)
                text.sample(name + "_count", pairs, Double(count))
            }
        }
    }

    private func update(_ key: Key, _ body: (Series?) -> Series) {
        series.withLock { series in
            guard series[key] != nil || series.count < Self.limit else { return }
            series[key] = body(series[key])
        }
    }

    private final class Handler: CounterHandler, RecorderHandler {
        let registry: MetricsRegistry
        let key: Key

        init(_ registry: MetricsRegistry, _ label: String, _ dimensions: [(String, String)]) {
            self.registry = registry
            key = Key(name: label, labels: dimensions.flatMap { [$0.0, $0.1] })
        }

        func increment(by amount: Int64) {
            registry.update(key) { old in
                guard case .counter(let count) = old else { return .counter(amount) }
                return .counter(count &+ amount)
            }
        }

        func reset() { registry.update(key) { _ in .counter(0) } }
        func record(_ value: Int64) { record(Double(value)) }
        func record(_ value: Double) { registry.update(key) { _ in .gauge(value) } }
    }

    private final class SummaryHandler: RecorderHandler, TimerHandler {
        let registry: MetricsRegistry
        let key: Key

        init(_ registry: MetricsRegistry, _ label: String, _ dimensions: [(String, String)]) {
            self.registry = registry
            key = Key(name: label, labels: dimensions.flatMap { [$0.0, $0.1] })
        }

        func record(_ value: Int64) { record(Double(value)) }
        func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }

        func record(_ value: Double) {
            registry.update(key) { old in
                guard case .summary(let count, let sum) = old else { return .summary(count: 1, sum: value) }
                return .summary(count: count + 1, sum: sum + value)
            }
        }
    }
}
