// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] =
    ["ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility", "NonisolatedNonsendingByDefault"]
    .map { .enableUpcomingFeature($0) } + [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]
    + [.treatWarning("DeprecatedDeclaration", as: .warning)]
/// Of a target that talks to C: every use of a pointer is marked `unsafe`.
let memorySafe = settings + [.strictMemorySafety()]
typealias Needs = [Target.Dependency]

let embedded: [String: [Resource]] = ["DiscoveryDaemon": [.embedInCode("Page/Web")]]
func module(_ name: String, _ needs: Needs = [], _ settings: [SwiftSetting] = settings, path: String? = nil) -> Target {
    .target(name: name, dependencies: needs, path: path, resources: embedded[name] ?? [], swiftSettings: settings)
}
func program(_ name: String, _ needs: Needs, _ settings: [SwiftSetting] = settings, path: String? = nil) -> Target {
    .executableTarget(name: name, dependencies: needs, path: path, swiftSettings: settings)
}
func tests(_ name: String, _ needs: Needs, exclude: [String] = []) -> Target {
    .testTarget(name: name, dependencies: needs, exclude: exclude, swiftSettings: settings)
}
func library(_ name: String, _ others: String...) -> Product { .library(name: name, targets: [name] + others) }
func nio(_ products: String...) -> Needs { products.map { .product(name: $0, package: "swift-nio") } }
let sockets = nio("NIOCore", "NIOPosix")
// What only some need is resolved for them alone (docs/decisions/0031-what-a-package-resolves.md).
func behind(_ trait: String, _ products: KeyValuePairs<String, String>) -> Needs {
    products.map { .product(name: $0, package: $1, condition: .when(traits: [trait])) }
}
let parser = behind("Commands", ["ArgumentParser": "swift-argument-parser"])
let crypto = behind("Unicast", ["Crypto": "swift-crypto"])
let certificates = behind("TLS", ["X509": "swift-certificates", "SwiftASN1": "swift-asn1"])
let tls = certificates + behind("TLS", ["NIOSSL": "swift-nio-ssl", "Crypto": "swift-crypto"])
let lifecycle = behind("Lifecycle", ["ServiceLifecycle": "swift-service-lifecycle"])
let tracing = behind("Observability", ["Tracing": "swift-distributed-tracing"])
let observability = tracing + behind("Observability", ["Logging": "swift-log", "CoreMetrics": "swift-metrics"])
let http = behind("HTTPClient", ["AsyncHTTPClient": "async-http-client", "Logging": "swift-log"])
let grpc = behind("GRPC", ["GRPCCore": "grpc-swift-2", "GRPCNIOTransportHTTP2Posix": "grpc-swift-nio-transport"])
let secure: Needs = ["DiscoveryTLS", "PeerIdentity"] + tls
let daemon: Needs = ["DaemonSupport", "DiscoveryDaemon", "UnicastEngine"]
    .map { .target(name: $0, condition: .when(traits: ["Commands"])) }
let (posix, messages): (Needs, Needs) = (["DNSSD", "DiscoveryPOSIX"], ["DNSMessage", "WireNames"])
let core: Needs = ["DNSSD", "Discovery", "DiscoverySystem"]
let wire = messages + ["MulticastEngine"]
let served: Needs = ["DaemonSupport", "DiscoveryDaemon", "DiscoveryDaemonClient"]
let screen: Needs = ["CProcessStart", "CTerminal", "CommandText", "DiscoverySystem"]
let (tested, inDaemon) = (core + ["DiscoveryTesting"], core + ["DiscoveryControl", "DiscoveryJSON"])
let frame: Needs = ["CommandFrame", "CommandText"] + parser
let inCommands = core + frame + ["AvahiEngine", "DiscoveryControl", "HostEngine", "PeerIdentity"]
/// Whether this is a checkout that is worked on, and not a package that another depends on (docs/decisions/0070-one-build.md).
let isWhole = Context.environment["DISCOVERD_WHOLE"] != nil
#if os(macOS)
let engines: [String] = []
#else
let engines = ["AvahiEngine", "MulticastEngine"]
#endif
let package = Package(
    name: "discoverd", platforms: [.macOS(.v15)],
    products: [
        library("NetworkServices"), .library(name: "Discovery", targets: ["Discovery", "DNSSD"] + engines),
        library("DiscoveryNIO"), library("DiscoveryNetService"), library("DiscoveryTesting"), library("PeerSession"),
        // Behind traits (docs/decisions/0031-what-a-package-resolves.md, 0058-the-server-ecosystem.md).
        .library(name: "UnicastDiscovery", targets: ["UnicastEngine"]), library("DiscoveryTLS", "PeerIdentity"),
        library("DiscoveryGRPC"), library("DiscoveryHTTPClient"), library("DiscoveryLifecycle"),
        library("DiscoveryObservability"),
        // For programs: their command lines, signals and exit statuses, JSON lines (docs/contract.md), the daemon.
        library("CommandFrame", "CommandText"), library("DiscoveryJSON"), library("DiscoveryDaemonClient"),
    ] + ["discoverd", "discoverd-daemon", "discoverd-dns"].map { .executable(name: $0, targets: [$0]) },
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
    targets: [
        // libyaml without `pkgConfig:`, which makes every build warn of a flag (-D_REENTRANT); libavahi-client, loaded when it is called.
        .systemLibrary(name: "CYAML", providers: [.apt(["libyaml-dev"])]), .target(name: "CAvahi"),
        // System calls, what the kernel says of connections and files, and sockets of multicast DNS, that Swift does not import.
        .systemLibrary(name: "CLinux"), .target(name: "CKernel"), .target(name: "CMulticast"), module("Libc"),
        // What keeps a private avahi-daemon running, what a program looks at before Swift's runtime would trap; a terminal in raw mode.
        .target(name: "CSupervisor"), .target(name: "CProcessStart"), .target(name: "CTerminal"),
        // Values and rules of DNS-SD, DNS messages as values, and the names of the one in the other: no C, no Foundation.
        module("DNSSD"), module("DNSMessage"), module("WireNames", ["DNSMessage", "DNSSD"]),
        // What POSIX has: a lock, small files, addresses; the library's own rules and its API; what is Linux: event loop, threads, sockets.
        module("DiscoveryPOSIX", ["DNSSD", "Libc"], memorySafe), module("Discovery", posix, memorySafe),
        module("DiscoverySystem", posix + ["CKernel", "CLinux", "Libc"], memorySafe),
        // What records of DNS-SD mean: services, types and domains, wherever the records come from.
        module("Records", ["DNSMessage", "DNSSD", "Discovery", "WireNames"]),
        // avahi-daemon as an engine; multicast DNS on the wire as a finder: its rules, and the sockets and the thread around them.
        module("AvahiEngine", core + ["CAvahi", "CSupervisor"], memorySafe),
        module("MulticastEngine", core + messages + ["CMulticast", "Records"], memorySafe),
        // Other domains, through their DNS servers: as a finder, and with signed updates as a publisher.
        module("UnicastEngine", core + messages + ["Records"] + crypto + sockets, memorySafe),
        // What finds and publishes on this machine: the wire and avahi-daemon, as commands, daemon and programs have it.
        module("HostEngine", core + wire + ["AvahiEngine"]), module("DiscoveryJSON", core, memorySafe),
        // The daemon's socket as a DiscoveryEngine, and what goes over it. Every command links it: no dependency.
        module("DiscoveryControl", core + ["DiscoveryJSON"], memorySafe), module("DiscoveryDaemonClient", inDaemon),
        // All of it behind one import, and the network as the commands use it; the daemon, for programs.
        module("NetworkServices", core + ["AvahiEngine", "DiscoveryControl", "DiscoveryJSON", "HostEngine"]),
        // A simulated network and a clock that tests turn by hand; connections and published listeners, with SwiftNIO.
        module("DiscoveryTesting", posix + ["Discovery"]), module("DiscoveryNIO", core + sockets),
        // Keys, names, and which key is whose; TLS with it.
        module("PeerIdentity", ["DNSSD", "DiscoverySystem"], memorySafe),
        module(
            "DiscoveryTLS", ["DNSSD", "PeerIdentity", "DiscoverySystem"] + tls + nio("NIOCore", "NIOPosix", "NIOTLS")),
        module("DiscoveryLifecycle", core + lifecycle), module("DiscoveryObservability", core + observability),
        module("DiscoveryHTTPClient", core + ["DiscoveryNIO"] + http + nio("NIOCore", "NIOHTTP1", "NIOPosix")),
        module("DiscoveryGRPC", core + grpc),
        // NetService and NetServiceBrowser, for code that is ported; peers that find, invite and message each other.
        module("DiscoveryNetService", core + ["DiscoveryNIO", "HostEngine"] + nio("NIOCore")),
        module("PeerSession", core + secure + ["DiscoveryJSON", "DiscoveryNIO"] + sockets),
        // What commands show on a terminal and read from a command line, as values; around them: signals, statuses, options.
        module("CommandText", ["DNSSD", "Libc"], memorySafe),
        module("CommandFrame", posix + screen + parser, memorySafe),
        module("DiscoverdCommands", inCommands + wire + ["CLinux", "DiscoveryJSON"], memorySafe),
        // discoverd becomes discoverd-dns for services of other domains, and for TLS.
        program("discoverd", ["CommandFrame", "DiscoverdCommands"], memorySafe),
        program("discoverd-dns", inCommands + daemon + wire + ["DiscoverdCommands", "DiscoveryTLS"] + tls, memorySafe),
        // The daemon: open queries, registrations and their checks, access, the control socket, systemd; its YAML.
        module("DiscoveryDaemon", inDaemon + nio("NIOCore", "NIOHTTP1", "NIOPosix"), memorySafe),
        module("DaemonSupport", core + ["CYAML", "DiscoveryDaemon", "UnicastEngine"], memorySafe),
        program("discoverd-daemon", inCommands + daemon + ["CLinux", "DiscoveryJSON"], memorySafe),
        // Examples: the README's, of the daemon, old names and zones; many publications in one process, for tests of faults and sizes.
        program("HelloDiscovery", ["NetworkServices"], path: "Sources/Examples/HelloDiscovery"),
        program("HelloDaemon", ["DiscoveryDaemonClient", "NetworkServices"], path: "Sources/Examples/HelloDaemon"),
        program("BonjourByOldNames", ["DNSSD", "DiscoveryNetService"], path: "Sources/Examples/BonjourByOldNames"),
        program("HelloZone", ["DNSSD", "Discovery", "UnicastEngine"], path: "Sources/Examples/HelloZone"),
        program("PublishMany", ["DNSSD", "Discovery", "AvahiEngine"], path: "Tests/Support/PublishMany"),
        program("PublishInZones", ["DNSSD", "Discovery", "UnicastEngine"], path: "Tests/Support/PublishInZones"),
        tests("PeerSessionTests", tested + secure + ["PeerSession"]),
        tests("SystemTests", ["DNSSD", "DiscoverySystem"]),
        tests("LabTests", ["CommandText", "DNSSD"], exclude: ["lab"]), tests("CommandTextTests", ["CommandText"]),
        tests("DNSMessageTests", ["DNSMessage"], exclude: ["Captures"]), tests("DNSSDTests", ["DNSSD"]),
        tests("DiscoveryTests", tested + ["DiscoveryJSON"]), tests("PeerIdentityTests", ["DNSSD", "PeerIdentity"]),
        tests("DiscoveryControlTests", inDaemon + ["DiscoveryTesting"]),
        tests("MulticastEngineTests", core + wire + ["Records"], exclude: ["Peculiar"]),
        tests("UnicastEngineTests", tested + messages + sockets + ["UnicastEngine"]),
        tests("AvahiEngineTests", tested + ["AvahiEngine", "CSupervisor", "MulticastEngine"]),
        tests("DiscoveryNIOTests", tested + sockets + ["DiscoveryNIO"]),
        tests("DiscoveryNetServiceTests", tested + ["DiscoveryNetService"]),
        tests("DiscoveryTLSTests", ["DNSSD"] + secure + nio("NIOEmbedded", "NIOPosix", "NIOTLS")),
        tests("DaemonSupportTests", tested + served + ["UnicastEngine"]),
        tests("DiscoveryDaemonTests", inDaemon + served + ["DiscoveryTesting", "discoverd-daemon"]),
        tests("CommandLineTests", inCommands + wire + ["DiscoverdCommands", "DiscoveryTesting"]),
    ]
)

// What stands on the library in this repository, built with it once: the programs of docs/apps, samples, and their tests. They see what
// is public in products, and no more: their compiler is told of another package (and .ci/check).
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
func sample(_ name: String, _ needs: Needs = []) -> Target {
    outer(program: name, on("NetworkServices", "DiscoveryNIO") + sockets + needs, path: "Examples/Sources/\(name)")
}
let all = on("CommandFrame", "Discovery", "DiscoveryJSON", "DiscoveryNIO", "NetworkServices") + parser + sockets
let ui = all + ["AppSupport", "TerminalUI"]
let protected = all + on("DiscoveryTLS") + ["AppSupport", "AppTLS", "TerminalUI"]
func more(_ product: String, of package: String) -> Target.Dependency { .product(name: product, package: package) }
let running = lifecycle + [more("UnixSignals", of: "swift-service-lifecycle")]
let hummingbird = [more("Hummingbird", of: "hummingbird")]
let outers: [Target] = [
    part("AppSupport", all), part("TerminalUI", all + ["AppSupport"]), part("Pairing", all + ["AppSupport"]),
    part("AppTLS", all + on("DiscoveryTLS") + ["AppSupport"]),
    .target(name: "CFiles", path: "Apps/Sources/CFiles"),
    part("FileDropCore", all + on("DiscoveryTLS") + ["AppSupport", "CFiles"] + crypto),
    part("LanChatCore", all + on("DiscoveryTLS") + ["AppSupport"]),
    app("StreamHello", all + ["AppSupport"]), app("LanChat", protected + ["LanChatCore"]),
    app("FileDrop", protected + ["FileDropCore"]), app("FourInARow", ui + ["Pairing"]), app("WiTap", ui + ["Pairing"]),
    app("TapRace", protected + on("PeerSession")),
    appTests("AppSupportTests", all + ["AppSupport"]), appTests("TerminalUITests", ui),
    appTests("LanChatTests", all + on("DiscoveryTLS") + ["AppSupport", "LanChatCore"]),
    appTests("FileDropTests", all + on("DiscoveryTLS") + ["AppSupport", "FileDropCore"]),
    appTests("FourInARowTests", ui + ["FourInARow"]), appTests("WiTapTests", ui + ["WiTap"]),
    appTests("TapRaceTests", ui + on("DiscoveryTLS") + ["TapRace"]),
    // The tutorial's earlier steps are links to its code; its last ones are BrowseAndConnect and PublishWithNIO.
    sample("BrowseAndConnect"), sample("PublishWithNIO"), sample("Datagrams"), sample("TutorialClient1"),
    sample("TutorialClient2"), sample("TutorialServer1"), sample("TutorialServer2"),
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
                more("InMemoryLogging", of: "swift-log"), more("MetricsTestKit", of: "swift-metrics"),
                more("InMemoryTracing", of: "swift-distributed-tracing"),
            ],
        path: "Examples/Tests/EcosystemTests"),
]
if isWhole {
    let traits: Set<String> = ["Commands", "GRPC", "HTTPClient", "Lifecycle", "Observability"]
    package.traits.insert(.default(enabledTraits: traits))
    package.targets += outers
    package.dependencies.append(
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []))
    let programs = [
        "filedrop": "FileDrop", "four-in-a-row": "FourInARow", "lanchat": "LanChat", "stream-hello": "StreamHello",
        "tap-race": "TapRace", "witap": "WiTap",
    ]
    package.products += programs.sorted(by: <).map { Product.executable(name: $0.key, targets: [$0.value]) }
}
