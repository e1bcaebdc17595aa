import Benchmark
import InsideBenchmarks

/// Throughput is there for the export, which asks for it.
///
/// A limit holds on other machines and beside other work: what goes beyond it is an algorithm that grew, not noise. The
/// figures to compare by are those of one run, in docs/performance.md.
private func configuration(
    _ scale: BenchmarkScalingFactor, _ seconds: Int, _ tolerance: Double
) -> Benchmark.Configuration {
    .init(
        metrics: [.wallClock, .throughput], warmupIterations: 1, scalingFactor: scale,
        maxDuration: .seconds(seconds), maxIterations: 1_000,
        thresholds: [.wallClock: .init(relative: [.p90: tolerance]), .throughput: .init(relative: [.p90: tolerance])])
}

/// - Parameter tolerance: in percent.
private func add(
    _ name: String, _ scale: BenchmarkScalingFactor = .one, seconds: Int = 1, tolerance: Double = 300,
    _ prepare: @escaping () throws -> some Workload
) {
    Benchmark(name, configuration: configuration(scale, seconds, tolerance)) { benchmark, workload in
        for _ in benchmark.scaledIterations { blackHole(await workload.run()) }
    } setup: {
        try prepare()
    }
}

/// A ratio, not a time: `growth`, in thousandths.
private func addGrowth() {
    let growth = BenchmarkMetric.custom("growth", polarity: .prefersSmaller, useScalingFactor: false)
    let configuration = Benchmark.Configuration(
        metrics: [growth, .throughput], warmupIterations: 1, maxDuration: .seconds(6), maxIterations: 1_000,
        thresholds: [growth: .init(relative: [.p90: 100]), .throughput: .init(relative: [.p90: 300])])
    Benchmark("Growth_from_1000_to_4000_services", configuration: configuration) { benchmark, workload in
        benchmark.measurement(growth, workload.thousandths())
    } setup: {
        try GrowthWorkload(services: 1_000)
    }
}

// The names are those of files in Thresholds/, which have no blanks.
let benchmarks: @Sendable () -> Void = {
    add("Catalog_10000_sightings") { try CatalogWorkload(services: 10_000) }
    add("ChangeLog_1000_services_under_churn") { try ChurnWorkload(services: 1_000) }
    add("TXT_record_of_12_strings_1000_times", .kilo) { TXTWorkload() }
    add("Name_escaped_for_a_terminal_1000_times", .kilo) { EscapeWorkload() }
    // Ten times as long when the two threads are on different cores.
    add("Hop_to_the_loop_and_back_1000_times", .kilo, tolerance: 2_000) { try LoopHopWorkload() }
    add("JSON_of_1000_services") { try JSONWorkload(services: 1_000) }
    for count in [1_000, 2_000, 4_000, 8_000] {
        add("Facts_to_JSON_lines_\(count)_services", seconds: 2) { try WholePathWorkload(services: count) }
    }
    addGrowth()
}
