// swift-tools-version: 6.2
import PackageDescription

let features = [
    "ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility", "NonisolatedNonsendingByDefault",
]
let settings: [SwiftSetting] =
    [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)] + features.map { .enableUpcomingFeature($0) }

/// A target of discoverd, compiled as one of this package: what the workloads measure is visible within a package only, and no product of
/// discoverd has it. Library/ is ../Sources.
func module(_ name: String, in room: String, _ needs: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: needs, path: "Library/\(room)/\(name)", swiftSettings: settings)
}
let core: [Target.Dependency] = ["DNSSD", "Discovery", "DiscoverySystem"]

let package = Package(
    name: "discoverd-benchmarks",
    dependencies: [
        // Without its counts of allocations, which would need further packages.
        .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: [])
    ],
    targets: [
        module("CLinux", in: "Core"), module("Libc", in: "Core"), module("DNSSD", in: "Core"),
        module("DiscoveryPOSIX", in: "Core", ["DNSSD", "Libc"]),
        module("DiscoverySystem", in: "Core", ["CLinux", "DNSSD", "DiscoveryPOSIX", "Libc"]),
        module("Discovery", in: "Core", ["DNSSD", "DiscoveryPOSIX"]), module("DiscoveryJSON", in: "Daemon", core),
        module("DNSMessage", in: "Core", ["DNSSD"]), module("CAvahi", in: "Engines"),
        module("Records", in: "Engines", ["DNSMessage", "DNSSD", "Discovery"]),
        module("AvahiEngine", in: "Engines", core + ["CAvahi", "DNSMessage", "Records"]),
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
