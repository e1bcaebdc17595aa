// swift-tools-version: 6.2
import PackageDescription

let features = [
    "ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility", "NonisolatedNonsendingByDefault",
]
let deprecated: SwiftSetting = .treatWarning("DeprecatedDeclaration", as: .warning)
let settings: [SwiftSetting] =
    [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error), deprecated] + features.map { .enableUpcomingFeature($0) }
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
func library(_ name: String, _ targets: String...) -> Product {
    .library(name: name, targets: targets.isEmpty ? [name] : targets)
}
func executable(_ name: String) -> Product { .executable(name: name, targets: [name]) }
func nio(_ products: String...) -> Needs { products.map { .product(name: $0, package: "swift-nio") } }

// What only some need is resolved for them alone (docs/decisions/0031-what-a-package-resolves.md).
func product(_ name: String, _ package: String, _ trait: String) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: [trait]))
}
let argumentParser = product("ArgumentParser", "swift-argument-parser", "Commands")
let crypto = product("Crypto", "swift-crypto", "Unicast")
let certificates = [product("X509", "swift-certificates", "TLS"), product("SwiftASN1", "swift-asn1", "TLS")]
let tls = certificates + [product("NIOSSL", "swift-nio-ssl", "TLS"), product("Crypto", "swift-crypto", "TLS")]
let secure: Needs = ["DiscoveryTLS", "PeerIdentity"] + tls
let daemon: Needs = ["DaemonSupport", "DiscoveryDaemon", "UnicastEngine"]
    .map { .target(name: $0, condition: .when(traits: ["Commands"])) }
let (core, wire): (Needs, Needs) = (["DNSSD", "Discovery", "System"], ["DNSMessage", "MulticastEngine", "WireNames"])
let (tested, inDaemon) = (core + ["DiscoveryTesting"], core + ["DiscoveryControl", "DiscoveryJSON"])
let frame: Needs = ["CommandFrame", "CommandText", argumentParser]
let inCommands = core + frame + ["AvahiEngine", "DiscoveryControl", "HostEngine", "PeerIdentity"]
let package = Package(
    name: "discoverd",
    platforms: [.macOS(.v15)],
    products: [
        // What a program needs: one import; and the daemon, its status and what it is handed.
        library("NetworkServices"), library("DiscoveryDaemonClient"),
        library("Discovery", "Discovery", "DNSSD", "AvahiEngine", "MulticastEngine"),
        library("DiscoveryNIO"), library("DiscoveryNetService"), library("DiscoveryTesting"), library("PeerSession"),
        // Behind traits: publishing in the DNS servers that exist, connections between machines that know each other's keys.
        library("UnicastDiscovery", "UnicastEngine"), library("DiscoveryTLS", "DiscoveryTLS", "PeerIdentity"),
        // For programs: their command lines, signals and exit statuses, and JSON lines (docs/contract.md).
        library("CommandFrame", "CommandFrame", "CommandText"), library("DiscoveryJSON"),
        executable("discoverd"), executable("discoverd-daemon"), executable("discoverd-dns"),
    ],
    traits: [
        .trait(name: "Commands", description: "Programs, options of CommandFrame.", enabledTraits: ["TLS", "Unicast"]),
        .trait(name: "Unicast", description: "Signed updates of DNS zones (RFC 2136, RFC 8945), with swift-crypto."),
        .trait(name: "TLS", description: "Connections between known machines (RFC 8446), with swift-nio-ssl."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-asn1.git", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates.git", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-crypto.git", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.6"),
    ],
    targets: [
        // libyaml without `pkgConfig:`, which makes every build warn of a flag (-D_REENTRANT); libavahi-client, loaded when it is called.
        .systemLibrary(name: "CYAML", providers: [.apt(["libyaml-dev"])]), .target(name: "CAvahi"),
        // System calls, what the kernel says of connections and files, and sockets of multicast DNS, that Swift does not import.
        .systemLibrary(name: "CLinux"), .target(name: "CKernel"), .target(name: "CMulticast"), module("Libc"),
        // What keeps a private avahi-daemon running, what a program looks at before Swift's runtime would trap; a terminal in raw mode.
        .target(name: "CSupervisor"), .target(name: "CProcessStart"), .target(name: "CTerminal"),
        // Values and rules of DNS-SD, DNS messages as values, and the names of the one in the other: no C, no Foundation.
        module("DNSSD"), module("DNSMessage"), module("WireNames", ["DNSMessage", "DNSSD"]),
        // What is Linux: threads, event loop, locks, sockets, small files.
        module("System", ["CKernel", "CLinux", "DNSSD", "Libc"], memorySafe),
        module("Discovery", ["DNSSD", "System"], memorySafe),
        // avahi-daemon as a DiscoveryEngine.
        module("AvahiEngine", core + ["CAvahi", "CSupervisor"], memorySafe),
        // Multicast DNS on the wire as a finder: its rules as values, and the sockets and the thread around them.
        module("MulticastEngine", core + ["CMulticast", "DNSMessage", "WireNames"], memorySafe),
        // Other domains, through their DNS servers: as a finder, and with signed updates as a publisher.
        module("UnicastEngine", core + ["DNSMessage", "WireNames", crypto] + nio("NIOCore", "NIOPosix"), memorySafe),
        // What finds and publishes on this machine: the wire and avahi-daemon, as commands, daemon and programs have it.
        module("HostEngine", core + ["AvahiEngine", "DNSMessage", "MulticastEngine", "WireNames"]),
        module("DiscoveryJSON", core, memorySafe),
        // The daemon's socket as a DiscoveryEngine, and what goes over it. Every command links it: no dependency.
        module("DiscoveryControl", core + ["DiscoveryJSON"], memorySafe),
        // All of it behind one import, and the network as the commands use it; the daemon, for programs.
        module("NetworkServices", core + ["AvahiEngine", "DiscoveryControl", "DiscoveryJSON", "HostEngine"]),
        module("DiscoveryDaemonClient", inDaemon),
        // A simulated network and a clock that tests turn by hand.
        module("DiscoveryTesting", core),
        // Connections to services, and listeners that are published, with SwiftNIO.
        module("DiscoveryNIO", core + nio("NIOCore", "NIOPosix")),
        // Keys, names, and which key is whose; TLS with it.
        module("PeerIdentity", ["DNSSD", "System"], memorySafe),
        module("DiscoveryTLS", ["DNSSD", "PeerIdentity", "System"] + tls + nio("NIOCore", "NIOPosix", "NIOTLS")),
        // NetService and NetServiceBrowser, for code that is ported.
        module("DiscoveryNetService", core + ["DiscoveryNIO", "HostEngine"] + nio("NIOCore")),
        // Peers that find, invite and message each other.
        module("PeerSession", core + secure + ["DiscoveryJSON", "DiscoveryNIO"] + nio("NIOCore", "NIOPosix")),
        // What commands show on a terminal and read from a command line, as values: widths, columns, help, slips.
        module("CommandText", ["DNSSD", "Libc"], memorySafe),
        // What discoverd and other programs have around their commands: signals, exit statuses, options.
        module(
            "CommandFrame", ["CProcessStart", "CTerminal", "CommandText", "DNSSD", "System", argumentParser], memorySafe
        ),
        module("DiscoverdCommands", inCommands + wire + ["CLinux", "DiscoveryJSON"], memorySafe),
        program("discoverd", ["CommandFrame", "DiscoverdCommands"], memorySafe),
        // The same commands for services of other domains; discoverd becomes it.
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
        tests("SystemTests", ["DNSSD", "System"]), tests("LabTests", ["CommandText", "DNSSD"], exclude: ["lab"]),
        tests("CommandTextTests", ["CommandText"]), tests("DNSMessageTests", ["DNSMessage"], exclude: ["Captures"]),
        tests("MulticastEngineTests", core + ["DNSMessage", "MulticastEngine", "WireNames"]),
        tests(
            "UnicastEngineTests", tested + ["DNSMessage", "UnicastEngine", "WireNames"] + nio("NIOCore", "NIOPosix")),
        tests("DiscoveryTests", tested + ["DiscoveryJSON"]), tests("PeerIdentityTests", ["DNSSD", "PeerIdentity"]),
        tests("DNSSDTests", ["DNSSD"]), tests("DiscoveryControlTests", inDaemon + ["DiscoveryTesting"]),
        tests("AvahiEngineTests", tested + ["AvahiEngine", "CSupervisor", "MulticastEngine"]),
        tests("DiscoveryNIOTests", tested + ["DiscoveryNIO"] + nio("NIOCore", "NIOPosix")),
        tests("DiscoveryNetServiceTests", tested + ["DiscoveryNetService"]),
        tests("PeerSessionTests", tested + secure + ["PeerSession"]),
        tests(
            "DiscoveryTLSTests", ["DNSSD", "DiscoveryTLS", "PeerIdentity"] + nio("NIOEmbedded", "NIOPosix", "NIOTLS")),
        tests("DaemonSupportTests", tested + ["DaemonSupport", "DiscoveryDaemon", "UnicastEngine"]),
        tests(
            "DiscoveryDaemonTests",
            inDaemon + ["DaemonSupport", "DiscoveryDaemon", "DiscoveryDaemonClient"]
                + ["DiscoveryTesting", "discoverd-daemon"]),
        tests("CommandLineTests", inCommands + wire + ["DiscoverdCommands", "DiscoveryTesting"]),
    ]
)
