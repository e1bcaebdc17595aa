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

let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")

let package = Package(
    name: "discoverd",
    products: [
        // What a program needs: one import.
        .library(name: "NetworkServices", targets: ["NetworkServices"]),
        .library(name: "Discovery", targets: ["Discovery", "DNSSD", "AvahiEngine"]),
        .library(name: "DiscoveryNIO", targets: ["DiscoveryNIO"]),
        .library(name: "DiscoveryNetService", targets: ["DiscoveryNetService"]),
        .library(name: "DiscoveryTesting", targets: ["DiscoveryTesting"]),
        // What the package in Benchmarks/ measures; nothing for others.
        .library(name: "InsideBenchmarks", targets: ["InsideBenchmarks"]),
        .executable(name: "discoverd", targets: ["discoverd"]),
        .executable(name: "discoverd-daemon", targets: ["discoverd-daemon"]),
        // For programs: their command lines, signals and exit statuses, and JSON lines (docs/contract.md).
        .library(name: "CommandFrame", targets: ["CommandFrame", "CommandText"]),
        .library(name: "DiscoveryJSON", targets: ["DiscoveryJSON"]),
        // Sessions of peers, on connections and datagrams.
        .library(name: "PeerSession", targets: ["PeerSession"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    ],
    targets: [
        // The C shim. Without `pkgConfig:`, which makes every build warn of a prohibited flag (-D_REENTRANT).
        .systemLibrary(name: "CAvahi", providers: [.apt(["libavahi-client-dev"])]),
        // Values and rules of DNS-SD: no C, no Foundation, no concurrency.
        .target(name: "DNSSD", swiftSettings: settings),
        // DNS messages as values: no C, no Foundation, no other target.
        .target(name: "DNSMessage", swiftSettings: settings),
        // Sockets of multicast DNS.
        .target(name: "CMulticast"),
        // Multicast DNS on the wire as a finder: its rules as values, and the sockets and the thread around them.
        .target(
            name: "MulticastEngine", dependencies: ["CMulticast", "DNSMessage", "DNSSD", "Discovery", "System"],
            swiftSettings: memorySafe),
        // What commands show on a terminal and read from a command line, as values: widths, columns, help, slips.
        .target(name: "CommandText", dependencies: ["DNSSD"], swiftSettings: memorySafe),
        // What discoverd and other programs have around their commands: signals, exit statuses, options.
        .target(
            name: "CommandFrame", dependencies: ["CProcessStart", "CommandText", "DNSSD", argumentParser],
            swiftSettings: memorySafe),
        // The library: one query however many ask, streams of events, publications.
        .target(name: "Discovery", dependencies: ["DNSSD", "System"], swiftSettings: memorySafe),
        // What is Linux: threads, event loop, locks, sockets, small files.
        .target(name: "System", dependencies: ["CKernel", "CLinux", "DNSSD"], swiftSettings: memorySafe),
        // The process that keeps a private dbus-daemon and avahi-daemon running, and ends with its owner.
        .target(name: "CSupervisor"),
        // What a program looks at before Swift's runtime would trap: limits, and whether there is a /proc.
        .target(name: "CProcessStart"),
        // avahi-daemon as a DiscoveryEngine.
        .target(
            name: "AvahiEngine", dependencies: ["CAvahi", "CSupervisor", "DNSSD", "Discovery", "System"],
            swiftSettings: memorySafe),
        // A simulated network and a clock that tests turn by hand.
        .target(name: "DiscoveryTesting", dependencies: ["DNSSD", "Discovery", "System"], swiftSettings: settings),
        // Connections to services, and listeners that are published, with SwiftNIO.
        .target(
            name: "DiscoveryNIO",
            dependencies: [
                "DNSSD", "Discovery", "System", .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: settings),
        // NetService and NetServiceBrowser, for code that is ported.
        .target(
            name: "DiscoveryNetService",
            dependencies: [
                "AvahiEngine", "DNSSD", "Discovery", "DiscoveryNIO", "System",
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "BonjourByOldNames", dependencies: ["DNSSD", "DiscoveryNetService"],
            path: "Sources/Examples/BonjourByOldNames", swiftSettings: settings),
        .testTarget(
            name: "DiscoveryNetServiceTests",
            dependencies: ["DNSSD", "Discovery", "DiscoveryNetService", "DiscoveryTesting"], swiftSettings: settings),
        // JSON lines, version 1 (docs/contract.md).
        .target(name: "DiscoveryJSON", dependencies: ["DNSSD", "Discovery"], swiftSettings: settings),
        // The daemon's socket as a DiscoveryEngine, and what goes over it. Every command links it: no dependency.
        .target(
            name: "DiscoveryControl", dependencies: ["DNSSD", "Discovery", "DiscoveryJSON", "System"],
            swiftSettings: memorySafe),
        // The daemon: warm queries, registrations, the control socket.
        .target(
            name: "DiscoveryDaemon",
            dependencies: [
                "DNSSD", "Discovery", "DiscoveryJSON", "DiscoveryControl", "System",
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
            ],
            swiftSettings: memorySafe),
        .executableTarget(
            name: "discoverd-daemon",
            dependencies: [
                "CLinux", "CommandFrame", "CommandText", "DNSSD", "Discovery", "AvahiEngine", "DaemonSupport",
                "DiscoveryControl", "DiscoveryDaemon", "System",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
            ],
            swiftSettings: memorySafe),
        // System calls that Swift's Glibc module does not have.
        .systemLibrary(name: "CLinux"),
        // What the kernel says and does with connections, in structures that Swift does not import.
        .target(name: "CKernel"),
        // libyaml. Without `pkgConfig:`, as CAvahi.
        .systemLibrary(name: "CYAML", providers: [.apt(["libyaml-dev"])]),
        // What the daemon needs besides the network: configuration, access rules, health checks, systemd.
        .target(
            name: "DaemonSupport",
            dependencies: ["CLinux", "CYAML", "DNSSD", "Discovery", "System"],
            swiftSettings: memorySafe),
        .executableTarget(
            name: "discoverd",
            dependencies: [
                "CommandFrame", "CommandText", "DNSSD", "Discovery", "AvahiEngine", "DiscoveryJSON",
                "DiscoveryControl", "System",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: memorySafe),
        // All of it behind one import, and the network as the commands use it.
        .target(
            name: "NetworkServices", dependencies: ["AvahiEngine", "DNSSD", "Discovery", "DiscoveryControl"],
            swiftSettings: settings),
        // For tests of faults: many publications in one process.
        .executableTarget(
            name: "PublishMany", dependencies: ["DNSSD", "Discovery", "AvahiEngine"], path: "Tests/Support/PublishMany",
            swiftSettings: settings),
        // Work within the library, for Benchmarks/.
        .target(
            name: "InsideBenchmarks", dependencies: ["DNSSD", "Discovery", "DiscoveryJSON", "AvahiEngine"],
            path: "Tests/Support/InsideBenchmarks", swiftSettings: settings),
        // The README's example, compiled with everything else.
        .executableTarget(
            name: "HelloDiscovery", dependencies: ["NetworkServices"],
            path: "Sources/Examples/HelloDiscovery", swiftSettings: settings),
        // Peers that find, invite and message each other.
        .target(
            name: "PeerSession",
            dependencies: [
                "DNSSD", "Discovery", "DiscoveryJSON", "DiscoveryNIO",
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "PeerSessionTests",
            dependencies: ["PeerSession", "DNSSD", "Discovery", "DiscoveryTesting"],
            swiftSettings: settings),
        .testTarget(
            name: "DNSMessageTests", dependencies: ["DNSMessage"], exclude: ["Captures"], swiftSettings: settings),
        .testTarget(
            name: "MulticastEngineTests", dependencies: ["DNSMessage", "DNSSD", "Discovery", "MulticastEngine"],
            swiftSettings: settings),
        .testTarget(name: "CommandTextTests", dependencies: ["CommandText"], swiftSettings: settings),
        .testTarget(name: "SystemTests", dependencies: ["DNSSD", "System"], swiftSettings: settings),
        .testTarget(name: "DNSSDTests", dependencies: ["DNSSD"], swiftSettings: settings),
        .testTarget(
            name: "DiscoveryTests", dependencies: ["Discovery", "DiscoveryJSON", "DiscoveryTesting", "System"],
            swiftSettings: settings),
        .testTarget(
            name: "DiscoveryNIOTests",
            dependencies: [
                "Discovery", "DiscoveryNIO", "DiscoveryTesting", .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "AvahiEngineTests",
            dependencies: ["AvahiEngine", "CSupervisor", "Discovery", "DiscoveryTesting", "MulticastEngine", "System"],
            swiftSettings: settings),
        .testTarget(
            name: "DiscoveryControlTests",
            dependencies: ["DNSSD", "Discovery", "DiscoveryControl", "DiscoveryJSON", "DiscoveryTesting"],
            swiftSettings: settings),
        .testTarget(
            name: "DiscoveryDaemonTests",
            dependencies: [
                "DNSSD", "Discovery", "DaemonSupport", "DiscoveryControl", "DiscoveryDaemon", "DiscoveryJSON",
                "DiscoveryTesting", "System", "discoverd-daemon",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "DaemonSupportTests", dependencies: ["DaemonSupport", "DNSSD", "Discovery", "DiscoveryTesting"],
            swiftSettings: settings),
        // What the commands read, as values.
        .testTarget(
            name: "CommandLineTests",
            dependencies: ["discoverd", "CommandFrame", "DNSSD", "Discovery", "DiscoveryTesting", argumentParser],
            swiftSettings: settings),
        .testTarget(
            name: "LabTests", dependencies: ["CommandText", "DNSSD"], exclude: ["lab"], swiftSettings: settings),
    ]
)
