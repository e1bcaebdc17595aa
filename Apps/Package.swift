// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error), .treatWarning("DeprecatedDeclaration", as: .warning),
]

/// A product of discoverd: these programs use nothing else of it.
func discoverd(_ product: String) -> Target.Dependency { .product(name: product, package: "discoverd") }

let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
let nio: [Target.Dependency] = [
    .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
]

/// A program of docs/apps, with what it needs besides what they all need.
func app(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: name,
        dependencies: [
            "AppSupport", discoverd("CommandFrame"), discoverd("Discovery"), discoverd("DiscoveryJSON"), argumentParser,
        ] + dependencies,
        swiftSettings: settings)
}

let package = Package(
    name: "discoverd-apps",
    products: [
        .executable(name: "stream-hello", targets: ["StreamHello"]),
        .executable(name: "lanchat", targets: ["LanChat"]),
        .executable(name: "filedrop", targets: ["FileDrop"]),
        .executable(name: "four-in-a-row", targets: ["FourInARow"]),
        .executable(name: "witap", targets: ["WiTap"]),
        .executable(name: "tap-race", targets: ["TapRace"]),
    ],
    dependencies: [
        .package(name: "discoverd", path: "..", traits: ["Commands"]),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-crypto.git", from: "4.5.2"),
    ],
    targets: [
        // What they share: options, output, connections as streams of bytes.
        .target(
            name: "AppSupport",
            dependencies: [
                discoverd("CommandFrame"), discoverd("Discovery"), discoverd("DiscoveryJSON"),
                discoverd("DiscoveryNIO"), discoverd("NetworkServices"), argumentParser,
            ] + nio,
            swiftSettings: settings),
        // TLS between machines that know each other's keys: options, messages.
        .target(
            name: "AppTLS",
            dependencies: [
                "AppSupport", discoverd("CommandFrame"), discoverd("Discovery"), discoverd("DiscoveryTLS"),
                argumentParser,
            ],
            swiftSettings: settings),
        // A terminal as a screen, and a list of services to choose from.
        .target(
            name: "TerminalUI",
            dependencies: [
                "AppSupport", discoverd("CommandFrame"), discoverd("Discovery"), discoverd("DiscoveryJSON"),
            ],
            swiftSettings: settings),
        app("StreamHello", [discoverd("DiscoveryNIO")] + nio),
        // The chat's rules and wire, apart from the program so that they can be tested as values.
        .target(
            name: "LanChatCore",
            dependencies: [
                "AppSupport", discoverd("CommandFrame"), discoverd("Discovery"), discoverd("DiscoveryTLS"),
            ], swiftSettings: settings),
        app(
            "LanChat",
            [
                "AppTLS", "LanChatCore", "TerminalUI", discoverd("DiscoveryNIO"), discoverd("DiscoveryTLS"),
            ] + nio),
        // What goes over the wire and into the file system.
        .target(name: "CFiles"),
        .target(
            name: "FileDropCore",
            dependencies: [
                "AppSupport", "CFiles", discoverd("CommandFrame"), discoverd("Discovery"), discoverd("DiscoveryTLS"),
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: settings),
        app(
            "FileDrop",
            ["AppTLS", "FileDropCore", "TerminalUI", discoverd("DiscoveryNIO"), discoverd("DiscoveryTLS")] + nio),
        // A connection to one other player.
        .target(
            name: "Pairing",
            dependencies: [
                "AppSupport", discoverd("Discovery"), discoverd("DiscoveryNIO"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: settings),
        app("FourInARow", ["Pairing", "TerminalUI", discoverd("DiscoveryNIO")]),
        app("WiTap", ["Pairing", "TerminalUI", discoverd("DiscoveryNIO")]),
        app("TapRace", ["AppTLS", "TerminalUI", discoverd("DiscoveryTLS"), discoverd("PeerSession")]),
        .testTarget(
            name: "AppSupportTests", dependencies: ["AppSupport", discoverd("CommandFrame")], swiftSettings: settings),
        .testTarget(
            name: "LanChatTests",
            dependencies: ["AppSupport", "LanChatCore", discoverd("Discovery"), discoverd("DiscoveryTLS")],
            swiftSettings: settings),
        .testTarget(
            name: "FileDropTests",
            dependencies: ["FileDropCore", discoverd("CommandFrame"), discoverd("DiscoveryTLS")],
            swiftSettings: settings),
        .testTarget(
            name: "TerminalUITests", dependencies: ["TerminalUI", discoverd("Discovery")], swiftSettings: settings),
        .testTarget(name: "FourInARowTests", dependencies: ["FourInARow", "TerminalUI"], swiftSettings: settings),
        .testTarget(
            name: "WiTapTests", dependencies: ["WiTap", "TerminalUI", discoverd("Discovery")], swiftSettings: settings),
        .testTarget(
            name: "TapRaceTests", dependencies: ["TapRace", "TerminalUI", discoverd("DiscoveryTLS")],
            swiftSettings: settings),
    ]
)
