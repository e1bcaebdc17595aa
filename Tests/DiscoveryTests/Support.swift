import DNSSD
import Discovery

let eth0 = NetworkInterface(index: 2, name: "eth0")
let eth1 = NetworkInterface(index: 3, name: "eth1")
let lo = NetworkInterface(index: 1, name: "lo")

func instance(_ name: String) throws -> ServiceInstance {
    ServiceInstance(name: try ServiceName(name), type: try ServiceType("_witap._tcp"))
}

func sighting(
    _ name: String,
    _ interface: NetworkInterface = eth0,
    _ family: IPAddress.Family = .ipv4
) throws -> Sighting {
    Sighting(instance: try instance(name), origin: .link(interface), family: family)
}

func address(_ text: String) throws -> IPAddress {
    guard let address = IPAddress(text) else { throw DiscoveryError(.invalidAddress, text) }
    return address
}

func resolution(_ name: String, _ addresses: [String]) throws -> Resolution {
    try resolution(name, eth0, addresses)
}

func resolution(
    _ name: String,
    _ interface: NetworkInterface = eth0,
    host: String = "h1.local",
    port: UInt16 = 9000,
    txt: KeyValuePairs<String, String?> = [:],
    _ addresses: [String] = ["10.0.0.7"]
) throws -> Resolution {
    Resolution(
        instance: try instance(name),
        origin: .link(interface),
        target: Resolution.Target(
            host: try HostName(host), port: Port(rawValue: port), addresses: try addresses.map(address)),
        txt: try TXTRecord(txt)
    )
}

func typeQuery(_ resolution: ServiceQuery.Resolution = .watch) throws -> ServiceQuery {
    ServiceQuery(.type(try ServiceType("_witap._tcp"), .local), resolution: resolution)
}

extension ListEvent {
    /// A change as a word: `+tony`, `~tony`, `-tony`, `settled`.
    func word(_ name: (Value) -> String) -> String {
        switch self {
        case .found(let value): "+\(name(value))"
        case .changed(let value): "~\(name(value))"
        case .lost(let value): "-\(name(value))"
        case .settled: "settled"
        case .backend(.lost): "backend lost"
        case .backend(.recovered): "backend recovered"
        case .backend(.unavailable): "backend unavailable"
        case .backend(.available): "backend available"
        case .degraded: "degraded"
        }
    }
}

extension [Change<DiscoveredService>] {
    var words: [String] { map { $0.word(\.instance.name.text) } }
}

/// A catalog and a clock, for tests that tell a story.
struct CatalogStory {
    private(set) var catalog: Catalog
    private(set) var now = Duration.zero

    /// - Parameter keepsApart: whether changes of one service are kept apart.
    init(_ query: ServiceQuery, limits: DiscoveryLimits = DiscoveryLimits(), keepsApart: Bool = false) {
        var limits = limits
        if !keepsApart { limits.changeInterval = .zero }
        catalog = Catalog(query, limits: limits)
        _ = catalog.apply(.backend(.up), now: .zero)
    }

    mutating func tell(_ facts: BrowseFact...) -> [Change<DiscoveredService>] {
        catalog.apply(facts, now: now)
    }

    /// Advances the clock, and wakes the catalog when it asked to be woken.
    mutating func wait(_ duration: Duration) -> [Change<DiscoveredService>] {
        let end = now + duration
        var changes: [Change<DiscoveredService>] = []
        while let deadline = catalog.nextDeadline, deadline <= end {
            now = max(now, deadline)
            changes += catalog.tick(now: now)
        }
        now = end
        return changes
    }

    func service(_ name: String) -> DiscoveredService? {
        catalog.snapshot.first { $0.instance.name.text == name }
    }
}
