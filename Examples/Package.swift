// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]
typealias Needs = [Target.Dependency]
func discoverd(_ products: String...) -> Needs { products.map { .product(name: $0, package: "discoverd") } }
func product(_ name: String, _ package: String) -> Target.Dependency { .product(name: name, package: package) }
func sample(_ name: String, _ needs: Needs) -> Target {
    .executableTarget(name: name, dependencies: discoverd("NetworkServices") + needs, swiftSettings: settings)
}

let nio = [product("NIOCore", "swift-nio"), product("NIOPosix", "swift-nio")]
let lifecycle =
    discoverd("DiscoveryLifecycle") + [
        product("ServiceLifecycle", "swift-service-lifecycle"), product("UnixSignals", "swift-service-lifecycle"),
    ]
let logging = product("Logging", "swift-log")
let http =
    discoverd("DiscoveryHTTPClient") + [
        product("AsyncHTTPClient", "async-http-client"), product("NIOHTTP1", "swift-nio"),
    ] + nio
let grpc =
    discoverd("DiscoveryGRPC") + [
        product("GRPCCore", "grpc-swift-2"), product("GRPCNIOTransportHTTP2Posix", "grpc-swift-nio-transport"),
    ]
let hummingbird = product("Hummingbird", "hummingbird")

let package = Package(
    name: "discoverd-examples",
    dependencies: [
        .package(name: "discoverd", path: "..", traits: ["GRPC", "HTTPClient", "Lifecycle", "Observability"]),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/grpc/grpc-swift-2", from: "2.4.3"),
        .package(url: "https://github.com/grpc/grpc-swift-nio-transport", from: "2.9.2"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        sample("BrowseAndConnect", discoverd("DiscoveryNIO") + nio),
        sample("PublishWithNIO", discoverd("DiscoveryNIO") + nio),
        sample("Datagrams", discoverd("DiscoveryNIO") + nio),
        sample("EchoGroup", discoverd("DiscoveryNIO") + lifecycle + [logging] + nio),
        sample("HummingbirdShop", lifecycle + [hummingbird, logging]),
        sample("HTTPByName", http),
        sample("GRPCByName", grpc),
        sample("GRPCGreeter", grpc),
        // The tutorial's earlier steps, as links to its code; its last ones are BrowseAndConnect and PublishWithNIO.
        sample("TutorialClient1", []), sample("TutorialClient2", discoverd("DiscoveryNIO") + nio),
        sample("TutorialServer1", []), sample("TutorialServer2", discoverd("DiscoveryNIO") + nio),
        .testTarget(
            name: "WithoutNetworkTests", dependencies: discoverd("Discovery", "DiscoveryTesting"),
            swiftSettings: settings),
        // The products behind traits, each with the library that it is for.
        .testTarget(
            name: "EcosystemTests",
            dependencies: discoverd("Discovery", "DiscoveryObservability", "DiscoveryTesting") + lifecycle + http + grpc
                + [
                    hummingbird, logging, product("InMemoryLogging", "swift-log"),
                    product("CoreMetrics", "swift-metrics"), product("MetricsTestKit", "swift-metrics"),
                    product("Tracing", "swift-distributed-tracing"),
                    product("InMemoryTracing", "swift-distributed-tracing"),
                ], swiftSettings: settings),
    ]
)
