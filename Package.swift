// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]
/// Every use of a pointer in a target that talks to C is marked `unsafe`.
let memorySafe: [SwiftSetting] = settings + [.strictMemorySafety()]

let package = Package(
    name: "discoverd",
    products: [
        .library(name: "Discovery", targets: ["Discovery", "DNSSD", "AvahiEngine"]),
        .library(name: "DiscoveryTesting", targets: ["DiscoveryTesting"]),
        .executable(name: "discoverd", targets: ["discoverd"]),
        .executable(name: "discoverd-daemon", targets: ["discoverd-daemon"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    ],
    targets: [
        // The C shim. Without `pkgConfig:`, which makes every build warn of a prohibited flag (-D_REENTRANT).
        .systemLibrary(name: "CAvahi", providers: [.apt(["libavahi-client-dev"])]),
        // Values and rules of DNS-SD: no C, no Foundation, no concurrency.
        .target(name: "DNSSD", swiftSettings: settings),
        // The library: one query however many ask, streams of events, publications.
        .target(name: "Discovery", dependencies: ["DNSSD"], swiftSettings: memorySafe),
        // avahi-daemon as a DiscoveryEngine.
        .target(
            name: "AvahiEngine", dependencies: ["CAvahi", "DNSSD", "Discovery"], swiftSettings: memorySafe),
        // A simulated network and a clock that tests turn by hand.
        .target(name: "DiscoveryTesting", dependencies: ["DNSSD", "Discovery"], swiftSettings: settings),
        // JSON lines, version 1 (docs/contract.md).
        .target(name: "DiscoveryJSON", dependencies: ["DNSSD", "Discovery"], swiftSettings: settings),
        // System calls that Swift's Glibc module does not have.
        .systemLibrary(name: "CLinux"),
        // What the daemon needs besides the network: configuration, access rules, health checks, systemd.
        .target(
            name: "DaemonSupport",
            dependencies: ["CLinux", "DNSSD", "Discovery", .product(name: "Yams", package: "Yams")],
            swiftSettings: memorySafe),
        // Stands in for the daemon until that is there: sockets, notifications and signals, but no network.
        .executableTarget(
            name: "discoverd-daemon", dependencies: ["DNSSD", "DaemonSupport"],
            path: "Tests/SystemdTests/StubDaemon", swiftSettings: settings),
        .executableTarget(
            name: "discoverd",
            dependencies: [
                "DNSSD", "Discovery", "AvahiEngine", "DiscoveryJSON",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: memorySafe),
        // The README's example, compiled with everything else.
        .executableTarget(
            name: "HelloDiscovery", dependencies: ["DNSSD", "Discovery", "AvahiEngine"],
            path: "Sources/Examples/HelloDiscovery", swiftSettings: settings),
        .testTarget(name: "DNSSDTests", dependencies: ["DNSSD"], swiftSettings: settings),
        .testTarget(
            name: "DiscoveryTests", dependencies: ["Discovery", "DiscoveryJSON", "DiscoveryTesting"],
            swiftSettings: settings),
        .testTarget(
            name: "AvahiEngineTests", dependencies: ["AvahiEngine", "Discovery", "DiscoveryTesting"],
            swiftSettings: settings),
        .testTarget(
            name: "DaemonSupportTests", dependencies: ["DaemonSupport", "DNSSD", "Discovery", "DiscoveryTesting"],
            swiftSettings: settings),
        .testTarget(name: "LabTests", dependencies: ["DNSSD"], exclude: ["lab"], swiftSettings: settings),
    ]
)
