// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "discoverd-benchmarks",
    dependencies: [
        .package(name: "discoverd", path: ".."),
        // Without its counts of allocations, which would need further packages.
        .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
    ],
    targets: [
        .executableTarget(
            name: "Inside",
            dependencies: [
                .product(name: "Benchmark", package: "benchmark"),
                .product(name: "InsideBenchmarks", package: "discoverd"),
            ],
            path: "Inside",
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)],
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")])
    ]
)
