// swift-tools-version: 6.2
import PackageDescription

// MARK: How targets are compiled

let settings: [SwiftSetting] =
    ["ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility", "NonisolatedNonsendingByDefault"]
    .map { .enableUpcomingFeature($0) } + [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]
    + [.treatWarning("DeprecatedDeclaration", as: .warning)]
/// Of a target that uses pointers: every use is marked `unsafe`.
let pointers: [SwiftSetting] = [.strictMemorySafety()]
typealias Needs = [Target.Dependency]

/// A module or a program in a room of Sources.
func module(
    _ name: String, in room: String, _ needs: Needs = [], _ more: [SwiftSetting] = [], _ resources: [Resource] = []
) -> Target {
    .target(
        name: name, dependencies: needs, path: "Sources/\(room)/\(name)", resources: resources,
        swiftSettings: settings + more)
}
func program(_ name: String, in room: String, _ needs: Needs) -> Target {
    .executableTarget(
        name: name, dependencies: needs, path: "Sources/\(room)/\(name)", swiftSettings: settings + pointers)
}
func tests(_ name: String, _ needs: Needs, exclude: [String] = []) -> Target {
    .testTarget(name: name, dependencies: needs, exclude: exclude, swiftSettings: settings)
}
func nio(_ products: String...) -> Needs { products.map { .product(name: $0, package: "swift-nio") } }
/// What only some need is resolved for them alone (docs/decisions/0031-what-a-package-resolves.md).
func behind(_ trait: String, _ products: KeyValuePairs<String, String>) -> Needs {
    products.map { .product(name: $0, package: $1, condition: .when(traits: [trait])) }
}
let parser = behind("Commands", ["ArgumentParser": "swift-argument-parser"])
let crypto = behind("Unicast", ["Crypto": "swift-crypto"])
let tls = behind(
    "TLS",
    [
        "X509": "swift-certificates", "SwiftASN1": "swift-asn1", "NIOSSL": "swift-nio-ssl", "Crypto": "swift-crypto",
    ])
let lifecycle = behind("Lifecycle", ["ServiceLifecycle": "swift-service-lifecycle"])
let observability = behind(
    "Observability",
    ["Tracing": "swift-distributed-tracing", "Logging": "swift-log", "CoreMetrics": "swift-metrics"])
let http = behind("HTTPClient", ["AsyncHTTPClient": "async-http-client", "Logging": "swift-log"])
let grpc = behind("GRPC", ["GRPCCore": "grpc-swift-2", "GRPCNIOTransportHTTP2Posix": "grpc-swift-nio-transport"])
let sockets = nio("NIOCore", "NIOPosix")

// MARK: The rooms of Sources, from the ground up (docs/architecture.md)

/// Values and rules of DNS-SD, DNS messages, what POSIX and Linux have, and the library's own rules and API.
let core: [Target] = [
    // System calls, sockets of multicast DNS, terminals, and what a program needs to start, that Swift does not import.
    .target(name: "CLinux", path: "Sources/Core/CLinux"),
    module("Libc", in: "Core"),
    module("DNSSD", in: "Core"),
    module("DNSMessage", in: "Core", ["DNSSD"]),
    module("DiscoveryPOSIX", in: "Core", ["DNSSD", "Libc"], pointers),
    module("DiscoverySystem", in: "Core", ["CLinux", "DNSSD", "DiscoveryPOSIX", "Libc"], pointers),
    module("Discovery", in: "Core", ["DNSSD", "DiscoveryPOSIX"], pointers),
]
let library: Needs = ["DNSSD", "Discovery", "DiscoverySystem"]
let commands: Needs =
    library + ["AvahiEngine", "CommandFrame", "CommandText", "DiscoveryControl", "HostEngine", "PeerIdentity"] + parser
let inDaemon: Needs = ["DiscoveryDaemon", "Labels", "LocalNames", "UnicastEngine"].map {
    .target(name: $0, condition: .when(traits: ["Commands"]))
}

/// What finds and publishes: on the wire, through avahi-daemon, through DNS servers; and which of them does on this machine.
let engines: [Target] = [
    .target(name: "CAvahi", path: "Sources/Engines/CAvahi"),
    // What records of DNS-SD mean: services, types and domains, wherever the records come from.
    module("Records", in: "Engines", ["DNSMessage", "DNSSD", "Discovery"]),
    // What a machine says of itself on a link, and when: the rules, without sockets.
    module("Responder", in: "Engines", ["DNSMessage", "DNSSD"]),
    module("MulticastEngine", in: "Engines", library + ["CLinux", "DNSMessage", "Records", "Responder"], pointers),
    module("AvahiEngine", in: "Engines", library + ["CAvahi", "DNSMessage", "Records"], pointers),
    module("UnicastEngine", in: "Engines", library + ["DNSMessage", "Records"] + crypto + sockets, pointers),
    module("HostEngine", in: "Engines", library + ["AvahiEngine", "MulticastEngine"]),
]

/// The daemon, what goes over its socket, and its clients. What every command links has no dependency.
let daemon: [Target] = [
    // libyaml without `pkgConfig:`, which makes every build warn of a flag (-D_REENTRANT).
    .systemLibrary(name: "CYAML", path: "Sources/Daemon/CYAML", providers: [.apt(["libyaml-dev"])]),
    module("DiscoveryJSON", in: "Daemon", library, pointers),
    module("DiscoveryControl", in: "Daemon", library + ["DiscoveryJSON"], pointers),
    module("DiscoveryDaemonClient", in: "Daemon", library + ["DiscoveryControl", "DiscoveryJSON"]),
    module(
        "DiscoveryDaemon", in: "Daemon",
        library + ["CYAML", "DiscoveryControl", "DiscoveryJSON", "PeerIdentity", "UnicastEngine"]
            + nio("NIOCore", "NIOHTTP1", "NIOPosix"),
        pointers, [.embedInCode("Page/Web")]),
    // `.local` for every program: what the C library and DNS resolvers ask, from the wire's records.
    module("LocalNames", in: "Daemon", library + ["DNSMessage", "DiscoveryDaemon", "MulticastEngine"], pointers),
    // What containers and units say of themselves, published while they run.
    module("Labels", in: "Daemon", library + ["DiscoveryControl", "DiscoveryDaemon", "DiscoveryJSON"], pointers),
    // Commands, too, for services of other domains and with TLS: discoverd becomes this program for them.
    program(
        "discoverd-daemon", in: "Daemon",
        commands + inDaemon
            + ["CLinux", "DNSMessage", "DiscoverdCommands", "DiscoveryJSON", "DiscoveryTLS", "MulticastEngine"] + tls),
]

/// What commands show on a terminal and read from a command line, as values; around them signals, statuses, options; the commands.
let command: [Target] = [
    module("CommandText", in: "Command", ["DNSSD", "Libc"], pointers),
    module(
        "CommandFrame", in: "Command",
        ["CLinux", "CommandText", "DNSSD", "DiscoverySystem", "DiscoveryPOSIX"] + parser,
        pointers),
    module(
        "DiscoverdCommands", in: "Command",
        commands + ["CLinux", "DNSMessage", "DiscoveryJSON", "MulticastEngine"], pointers),
    program("discoverd", in: "Command", ["CommandFrame", "DiscoverdCommands"]),
]

/// For programs on the library: one import of it, a network for tests, connections with SwiftNIO, keys and TLS, other packages' shapes.
let more: [Target] = [
    module(
        "NetworkServices", in: "Library",
        library + ["AvahiEngine", "DiscoveryControl", "DiscoveryJSON", "HostEngine"]),
    module(
        "DiscoveryTesting", in: "Library",
        ["DNSMessage", "DNSSD", "Discovery", "DiscoveryPOSIX", "Records", "Responder"]),
    module("DiscoveryNIO", in: "Library", library + sockets),
    module("PeerIdentity", in: "Library", ["DNSSD", "DiscoverySystem"], pointers),
    module(
        "DiscoveryTLS", in: "Library",
        ["DNSSD", "DiscoverySystem", "PeerIdentity"] + tls + nio("NIOCore", "NIOPosix", "NIOTLS")),
    module("DiscoveryLifecycle", in: "Library", library + lifecycle),
    module("DiscoveryObservability", in: "Library", library + observability),
    module(
        "DiscoveryHTTPClient", in: "Library",
        library + ["DiscoveryNIO"] + http + nio("NIOCore", "NIOHTTP1", "NIOPosix")),
    module("DiscoveryGRPC", in: "Library", library + grpc),
]

/// For code that is ported: NetService and NetServiceBrowser; peers that find, invite and message each other.
let extras: [Target] = [
    module("DiscoveryNetService", in: "Extras", library + ["DiscoveryNIO", "HostEngine"] + nio("NIOCore")),
    module(
        "PeerSession", in: "Extras",
        library + ["DiscoveryJSON", "DiscoveryNIO", "DiscoveryTLS", "PeerIdentity"] + tls + sockets),
]

let tested: Needs = library + ["DiscoveryTesting"]
let secured: Needs = ["DiscoveryTLS", "PeerIdentity"] + tls
let served: Needs = tested + ["DiscoveryControl", "DiscoveryDaemon", "DiscoveryDaemonClient", "DiscoveryJSON"]
let allTests: [Target] = [
    tests("DNSTests", ["DNSMessage", "DNSSD"], exclude: ["Captures"]),
    tests("DiscoveryTests", tested + ["DiscoveryJSON"]),
    tests(
        "MulticastEngineTests", library + ["DNSMessage", "MulticastEngine", "Records", "Responder"],
        exclude: ["Peculiar"]),
    tests("AvahiEngineTests", tested + ["AvahiEngine", "DNSMessage", "HostEngine", "MulticastEngine", "Records"]),
    tests("UnicastEngineTests", tested + sockets + ["DNSMessage", "Records", "UnicastEngine"]),
    tests("DiscoveryDaemonTests", served + ["LocalNames", "discoverd-daemon"]),
    tests("DaemonSupportTests", served + ["UnicastEngine"]),
    tests(
        "DaemonValueTests",
        [
            "DNSMessage", "DNSSD", "Discovery", "DiscoveryControl", "DiscoveryDaemon", "DiscoveryJSON", "Labels",
            "LocalNames", "MulticastEngine",
        ]),
    tests("CommandLineTests", commands + ["DNSMessage", "DiscoverdCommands", "DiscoveryTesting", "MulticastEngine"]),
    tests("DiscoveryNIOTests", tested + sockets + nio("NIOEmbedded") + ["DiscoveryNIO"]),
    tests("PeerIdentityTests", ["DNSSD", "PeerIdentity"]),
    tests("DiscoveryTLSTests", ["DNSSD"] + secured + nio("NIOEmbedded", "NIOPosix", "NIOTLS")),
    tests("DiscoveryNetServiceTests", tested + ["DiscoveryNetService"]),
    tests("PeerSessionTests", tested + secured + ["PeerSession"]),
    // The built programs, on hosts of network namespaces.
    tests("LabTests", ["CommandText", "DNSSD"], exclude: ["lab"]),
]

// MARK: What a package gets that depends on this one

func product(_ name: String, _ others: String...) -> Product { .library(name: name, targets: [name] + others) }
#if os(macOS)
let inLibrary: [String] = []
#else
let inLibrary = ["AvahiEngine", "MulticastEngine"]
#endif
let package = Package(
    name: "discoverd", platforms: [.macOS(.v15)],
    products: [
        product("NetworkServices"), .library(name: "Discovery", targets: ["Discovery", "DNSSD"] + inLibrary),
        product("DiscoveryNIO"), product("DiscoveryNetService"), product("DiscoveryTesting"), product("PeerSession"),
        // Behind traits (docs/decisions/0031-what-a-package-resolves.md, 0058-the-server-ecosystem.md).
        .library(name: "UnicastDiscovery", targets: ["UnicastEngine"]), product("DiscoveryTLS", "PeerIdentity"),
        product("DiscoveryGRPC"), product("DiscoveryHTTPClient"), product("DiscoveryLifecycle"),
        product("DiscoveryObservability"),
        // For programs: their command lines, signals and exit statuses, JSON lines (docs/contract/json.md), the daemon.
        product("CommandFrame", "CommandText"), product("DiscoveryJSON"), product("DiscoveryDaemonClient"),
    ] + ["discoverd", "discoverd-daemon"].map { .executable(name: $0, targets: [$0]) },
    traits: [
        .trait(name: "Commands", description: "Programs, options of CommandFrame.", enabledTraits: ["TLS", "Unicast"]),
        .trait(name: "Unicast", description: "Signed updates of DNS zones (RFC 2136, RFC 8945), with swift-crypto."),
        .trait(name: "TLS", description: "Connections between known machines (RFC 8446), with swift-nio-ssl."),
        .trait(name: "Lifecycle", description: "Services of a ServiceGroup, with swift-service-lifecycle."),
        .trait(name: "Observability", description: "With swift-log, swift-metrics, swift-distributed-tracing."),
        .trait(name: "HTTPClient", description: "Requests to services by name, with async-http-client."),
        .trait(name: "GRPC", description: "Names as targets of gRPC Swift 2."),
    ],
    dependencies: [
        ("apple/swift-argument-parser", "1.8.2"), ("apple/swift-asn1", "1.7.4"), ("apple/swift-certificates", "1.21.1"),
        ("apple/swift-crypto", "4.5.2"), ("apple/swift-nio", "2.101.2"), ("apple/swift-nio-ssl", "2.37.6"),
        ("apple/swift-log", "1.16.2"), ("apple/swift-metrics", "2.13.0"), ("apple/swift-distributed-tracing", "1.7.3"),
        ("swift-server/swift-service-lifecycle", "2.13.0"), ("swift-server/async-http-client", "1.37.0"),
        ("grpc/grpc-swift-2", "2.4.3"), ("grpc/grpc-swift-nio-transport", "2.9.2"),
    ].map { .package(url: "https://github.com/\($0)", from: Version(stringLiteral: $1)) },
    targets: core + engines + daemon + command + more + extras + allTests
)

// MARK: What stands on the library in this repository

// It is built with it, once (docs/decisions/0070-one-build.md): the programs of docs/apps, samples, and their tests. They see what is
// public in products, and no more: their compiler is told of another package (and .ci/check).
let libraries = Dictionary(grouping: package.products.compactMap { $0 as? Product.Library }, by: \.name)
func on(_ names: String...) -> Needs {
    names.flatMap { libraries[$0] ?? [] }.flatMap(\.targets).map { .target(name: $0) }
}
let outside = settings + [.unsafeFlags(["-package-name", "on_discoverd"])]
func outer(_ name: String, _ needs: Needs, path: String) -> Target {
    .target(name: name, dependencies: needs, path: path, packageAccess: false, swiftSettings: outside)
}
func outer(program name: String, _ needs: Needs, path: String) -> Target {
    .executableTarget(name: name, dependencies: needs, path: path, packageAccess: false, swiftSettings: outside)
}
func outer(tests name: String, _ needs: Needs, path: String) -> Target {
    .testTarget(name: name, dependencies: needs, path: path, packageAccess: false, swiftSettings: outside)
}
func part(_ name: String, _ needs: Needs) -> Target { outer(name, needs, path: "Apps/Sources/\(name)") }
func app(_ name: String, _ needs: Needs) -> Target { outer(program: name, needs, path: "Apps/Sources/\(name)") }
func appTests(_ name: String, _ needs: Needs) -> Target { outer(tests: name, needs, path: "Apps/Tests/\(name)") }
func load(_ name: String, _ needs: Needs) -> Target { outer(program: name, needs, path: "Tests/Support/\(name)") }
func sample(_ name: String, _ needs: Needs = []) -> Target {
    outer(program: name, on("NetworkServices", "DiscoveryNIO") + sockets + needs, path: "Examples/Sources/\(name)")
}
let all = on("CommandFrame", "Discovery", "DiscoveryJSON", "DiscoveryNIO", "NetworkServices") + parser + sockets
let ui = all + ["AppSupport", "TerminalUI"]
let protected = all + on("DiscoveryTLS") + ["AppSupport", "AppTLS", "TerminalUI"]
func product(_ name: String, of package: String) -> Target.Dependency { .product(name: name, package: package) }
let running = lifecycle + [product("UnixSignals", of: "swift-service-lifecycle")]
let hummingbird = [product("Hummingbird", of: "hummingbird")]
let outers: [Target] = [
    part("AppSupport", all), part("TerminalUI", all + ["AppSupport"]), part("Pairing", all + ["AppSupport"]),
    part("AppTLS", all + on("DiscoveryTLS") + ["AppSupport"]),
    .target(name: "CFiles", path: "Apps/Sources/CFiles"),
    part("FileDropCore", all + on("DiscoveryTLS") + ["AppSupport", "CFiles"] + crypto),
    part("LanChatCore", all + on("DiscoveryTLS") + ["AppSupport"]),
    app("StreamHello", all + ["AppSupport"]), app("LanChat", protected + ["LanChatCore"]),
    app("FileDrop", protected + ["FileDropCore"]), app("FourInARow", ui + ["Pairing"]), app("WiTap", ui + ["Pairing"]),
    app("TapRace", protected + on("PeerSession")), app("BonjourByOldNames", on("DiscoveryNetService")),
    appTests("AppSupportTests", all + ["AppSupport"]), appTests("TerminalUITests", ui),
    appTests("LanChatTests", all + on("DiscoveryTLS") + ["AppSupport", "LanChatCore"]),
    appTests("FileDropTests", all + on("DiscoveryTLS") + ["AppSupport", "FileDropCore"]),
    appTests("FourInARowTests", ui + ["FourInARow"]), appTests("WiTapTests", ui + ["WiTap"]),
    appTests("TapRaceTests", ui + on("DiscoveryTLS") + ["TapRace"]),
    // The tutorial's earlier steps are links to its code; its last ones are BrowseAndConnect and PublishWithNIO.
    sample("BrowseAndConnect"), sample("PublishWithNIO"), sample("Datagrams"), sample("TutorialClient1"),
    sample("TutorialClient2"), sample("TutorialServer1"), sample("TutorialServer2"), sample("HelloDiscovery"),
    sample("HelloDaemon", on("DiscoveryDaemonClient")), sample("HelloZone", on("UnicastDiscovery")),
    // Many publications in one process, for tests of faults and sizes.
    load("PublishMany", on("Discovery", "NetworkServices")),
    load("PublishInZones", on("Discovery", "UnicastDiscovery")),
    // What judges responders from outside (docs/conformance.md): a program and its parts.
    .target(name: "CPacket", path: "Conformance/Sources/CPacket"),
    .target(
        name: "Conformance", dependencies: ["CPacket", "DNSMessage", "DNSSD"], path: "Conformance/Sources/Conformance",
        swiftSettings: settings + pointers),
    .executableTarget(
        name: "discoverd-conformance", dependencies: ["Conformance"], path: "Conformance/Sources/discoverd-conformance",
        swiftSettings: settings),
    tests("ConformanceTests", ["Conformance", "DNSMessage", "DNSSD", "MulticastEngine", "Responder"]),
    sample("EchoGroup", on("DiscoveryLifecycle") + running),
    sample("HummingbirdShop", on("DiscoveryLifecycle") + running + hummingbird),
    sample("HTTPByName", on("DiscoveryHTTPClient") + http + nio("NIOHTTP1")),
    sample("GRPCByName", on("DiscoveryGRPC") + grpc), sample("GRPCGreeter", grpc),
    outer(
        tests: "WithoutNetworkTests", on("Discovery", "DiscoveryTesting"),
        path: "Examples/Tests/WithoutNetworkTests"),
    // The products behind traits, each with the library that it is for.
    outer(
        tests: "EcosystemTests",
        on("Discovery", "DiscoveryTesting", "DiscoveryGRPC", "DiscoveryHTTPClient", "DiscoveryLifecycle")
            + on("DiscoveryObservability") + sockets + nio("NIOHTTP1") + running + http + grpc + observability
            + hummingbird + [
                product("InMemoryLogging", of: "swift-log"), product("MetricsTestKit", of: "swift-metrics"),
                product("InMemoryTracing", of: "swift-distributed-tracing"),
            ],
        path: "Examples/Tests/EcosystemTests"),
]
/// Whether this is a checkout that is worked on, and not a package that another depends on.
if Context.environment["DISCOVERD_WHOLE"] != nil {
    let traits: Set<String> = ["Commands", "GRPC", "HTTPClient", "Lifecycle", "Observability"]
    package.traits.insert(.default(enabledTraits: traits))
    package.targets += outers
    package.dependencies.append(
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []))
    let programs = [
        "filedrop": "FileDrop", "four-in-a-row": "FourInARow", "lanchat": "LanChat", "stream-hello": "StreamHello",
        "tap-race": "TapRace", "witap": "WiTap",
        "discoverd-conformance": "discoverd-conformance",
    ]
    package.products += programs.sorted(by: <).map { Product.executable(name: $0.key, targets: [$0.value]) }
}
