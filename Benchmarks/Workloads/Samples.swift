import DNSSD
import Discovery

/// Services as on a real network: ten per host, each with a TXT record, and an address of each family.
enum Samples {
    /// An engine's facts about this many services, and a catalog that has heard none of them.
    struct Story {
        let empty: Catalog
        let facts: [BrowseFact]

        init(services: Int) throws {
            empty = try Samples.catalog(services)
            facts = try Samples.facts(services)
        }
    }

    private static let origin = Origin.link(NetworkInterface(index: 2, name: "eth0"))

    /// A TXT record of a printer's size (RFC 6763 §6).
    static let strings: [[UInt8]] = (0..<12).map { Array("key\($0)=a value of some length \($0)".utf8) }

    static func type() throws(DiscoveryError) -> ServiceType { try ServiceType("_bench._tcp") }

    /// An engine's facts about them: all are sighted first, then resolved one by one.
    static func facts(_ count: Int) throws(DiscoveryError) -> [BrowseFact] {
        let type = try type()
        let txt = TXTRecord(strings: strings)
        var sightings: [BrowseFact] = []
        var resolutions: [BrowseFact] = []
        for number in 0..<count {
            let host = number / 10
            let instance = ServiceInstance(name: try ServiceName("service \(number)"), type: type)
            sightings.append(.appeared(Sighting(instance: instance, origin: origin, family: .ipv4)))
            let addresses: [IPAddress] = [
                .v4(IPv4Address(bits: 0x0A00_0000 + UInt32(truncatingIfNeeded: host))),
                .v6(IPv6Address(high: 0xFE80 << 48, low: UInt64(host + 1)), scope: 2),
            ]
            resolutions.append(
                .resolved(
                    Resolution(
                        instance: instance, origin: origin,
                        target: Resolution.Target(
                            host: try HostName("host-\(host).local"), port: try Port(9_000), addresses: addresses),
                        txt: txt)))
        }
        return sightings + [.listed] + resolutions
    }

    /// The services that those facts describe.
    static func services(_ count: Int) throws(DiscoveryError) -> [DiscoveredService] {
        var catalog = try catalog(count)
        for fact in try facts(count) { _ = catalog.apply(fact, now: .zero) }
        return catalog.snapshot
    }

    static func catalog(_ count: Int) throws(DiscoveryError) -> Catalog {
        var limits = DiscoveryLimits()
        limits.services = count
        limits.servicesPerHost = 10
        return Catalog(ServiceQuery(.type(try type(), .local)), limits: limits)
    }
}
