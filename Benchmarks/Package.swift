// swift-tools-version: 6.2
import PackageDescription

let features = [
    "ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility", "NonisolatedNonsendingByDefault",
]
let settings: [SwiftSetting] =
    [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)] + features.map { .enableUpcomingFeature($0) }

/// A target of discoverd, compiled as one of this package: what the workloads measure is visible within a package only, and no product of
/// discoverd has it. Library/ is ../Sources.
func module(_ name: String, _ needs: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: needs, path: "Library/\(name)", swiftSettings: settings)
}
let core: [Target.Dependency] = ["DNSSD", "Discovery", "DiscoverySystem"]

let package = Package(
    name: "discoverd-benchmarks",
    dependencies: [
        // Without its counts of allocations, which would need further packages.
        .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: [])
    ],
    targets: [
        .systemLibrary(name: "CLinux", path: "Library/CLinux"), module("CKernel"), module("CAvahi"),
        module("CSupervisor"),
        module("Libc"), module("DNSSD"), module("DiscoverySystem", ["CKernel", "CLinux", "DNSSD", "Libc"]),
        module("Discovery", ["DNSSD", "DiscoverySystem"]), module("DiscoveryJSON", core),
        module("AvahiEngine", core + ["CAvahi", "CSupervisor"]),
        .target(
            name: "InsideBenchmarks", dependencies: core + ["AvahiEngine", "DiscoveryJSON"], path: "Workloads",
            swiftSettings: settings),
        .executableTarget(
            name: "Inside",
            dependencies: [.product(name: "Benchmark", package: "benchmark"), "InsideBenchmarks"],
            path: "Inside",
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)],
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]),
    ]
)
