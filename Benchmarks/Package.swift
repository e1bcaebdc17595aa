// swift-tools-version: 6.2
import PackageDescription

// The library's inside is visible to the targets of one package: these say that they belong to the one above, whose
// identity is the name of its directory.
let parent = Context.packageDirectory.split(separator: "/").dropLast().last.map { $0.lowercased() } ?? "discoverd"

let package = Package(
    name: "discoverd-benchmarks",
    dependencies: [
        .package(name: "discoverd", path: ".."),
        // Its counts of allocations need a library of its own that is not built here.
        .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
    ],
    targets: [
        .executableTarget(
            name: "Inside",
            dependencies: [
                .product(name: "Benchmark", package: "benchmark"),
                .product(name: "Discovery", package: "discoverd"),
                .product(name: "DiscoveryJSON", package: "discoverd"),
            ],
            path: "Benchmarks/Inside",
            swiftSettings: [
                .swiftLanguageMode(.v6),
                .unsafeFlags(["-package-name", parent]),
            ],
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")])
    ]
)
