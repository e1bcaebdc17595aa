import Benchmark
import InsideBenchmarks

/// A limit holds on other machines and beside other work: what goes beyond it is an algorithm that grew, not noise. The
/// figures to compare by are those of one run, in docs/performance.md.
private let tolerance: [BenchmarkMetric: BenchmarkThresholds] = [
    .wallClock: .init(relative: [.p50: 300, .p90: 300]), .throughput: .init(relative: [.p50: 300, .p90: 300]),
]

/// Throughput is there for the export, which asks for it.
private func configuration(_ scale: BenchmarkScalingFactor) -> Benchmark.Configuration {
    .init(
        metrics: [.wallClock, .throughput], warmupIterations: 2, scalingFactor: scale, maxDuration: .seconds(2),
        maxIterations: 1_000, thresholds: tolerance)
}

private func add(
    _ name: String, _ scale: BenchmarkScalingFactor = .one, _ prepare: @escaping () throws -> some Workload
) {
    Benchmark(name, configuration: configuration(scale)) { benchmark, workload in
        for _ in benchmark.scaledIterations { blackHole(await workload.run()) }
    } setup: {
        try prepare()
    }
}

let benchmarks: @Sendable () -> Void = {
    add("Catalog, 10000 sightings") { try CatalogWorkload(services: 10_000) }
    add("PendingChanges, 1000 services under churn") { try ChurnWorkload(services: 1_000) }
    add("TXT record of 12 strings", .kilo) { TXTWorkload() }
    add("Name escaped for a terminal", .kilo) { EscapeWorkload() }
    add("Hop to the thread of Avahi and back", .kilo) { try LoopHopWorkload() }
    add("JSON of 1000 services") { try JSONWorkload(services: 1_000) }
    for count in [1_000, 2_000, 4_000, 8_000] {
        add("Facts to JSON lines, \(count) services") { try WholePathWorkload(services: count) }
    }
}
