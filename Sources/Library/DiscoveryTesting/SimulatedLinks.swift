import DNSMessage
import DNSSD
import Responder

/// Who has which name on the links of a simulated network: every machine's `LinkResponder`, as the engine on the wire has it, and their packets.
/// A value. Its time runs ahead of the network's until all names are settled, so that a name is there, or lost, at once.
struct SimulatedLinks: Sendable {
    /// A machine on a link.
    struct Site: Hashable, Sendable {
        let machine: String
        let link: String
        /// The machine's addresses there, without scopes.
        let addresses: [IPAddress]

        /// What has no address is heard over IPv4.
        var families: Set<IPAddress.Family> { addresses.isEmpty ? [.ipv4] : Set(addresses.map(\.family)) }
    }

    private struct Station: Sendable {
        let site: Site
        var responder: LinkResponder
        var services: Set<UInt64> = []
    }

    /// The bytes of a packet on an Ethernet.
    private static let mtu = 1500
    /// A host outside the network, which has the names in `claimed`.
    private static let outside = IPAddress.v4(IPv4Address(bits: 0x0AFF_FFFE))

    private var stations: [Station] = []
    private var now = Duration.zero
    private var random: SeededGenerator
    /// Machines hear each other that have the same number.
    var segments: [String: Int] = [:]
    private(set) var claimed: Set<DomainName> = []

    init(seed: UInt64) { random = SeededGenerator(seed: ~seed) }

    // MARK: Claims

    /// Claims names for a service, and that of its machine if it has one.
    mutating func claim(_ claims: [(id: ClaimID, claim: Claim)], host: HostLabel?, at site: Site, of service: UInt64) {
        let index = station(at: site)
        if let host { claim(host, at: index) }
        stations[index].services.insert(service)
        for (id, claim) in claims { stations[index].responder.claim(id, claim, at: now) }
    }

    private mutating func station(at site: Site) -> Int {
        if let index = stations.firstIndex(where: { $0.site == site }) { return index }
        var responder = LinkResponder(mtu: Self.mtu, random: SeededGenerator(seed: random.next()))
        responder.use(site.families, at: now)
        responder.machine = Set(site.addresses)
        stations.append(Station(site: site, responder: responder))
        return stations.count - 1
    }

    /// Gives up a service's names; with the last the machine's own.
    mutating func withdraw(_ service: UInt64, at sites: some Sequence<Site>) {
        for site in sites {
            guard let index = stations.firstIndex(where: { $0.site == site }) else { continue }
            stations[index].responder.withdraw(.service(service), at: now)
            stations[index].responder.withdraw(.other(service), at: now)
            stations[index].services.remove(service)
            if stations[index].services.isEmpty { stations.remove(at: index) }
        }
    }

    /// The machine has another name, or asks for its first one: on all of its links.
    mutating func rename(_ machine: String, _ host: HostLabel) {
        for index in stations.indices where stations[index].site.machine == machine { claim(host, at: index) }
    }

    private mutating func claim(_ host: HostLabel, at index: Int) {
        guard let name = host.name else { return }
        let addresses = stations[index].site.addresses
        stations[index].responder.claim(.host, Claim(host: name, addresses), at: now)
        if let first = host.asked {
            stations[index].responder.claim(.firstName, Claim(host: first, addresses), at: now)
        } else {
            stations[index].responder.withdraw(.firstName, at: now)
        }
    }

    /// Gives a machine its first name once it is established on all of its links.
    /// - Returns: whether it is.
    mutating func takeFirstName(_ machine: String) -> Bool {
        let own = stations.indices.filter { stations[$0].site.machine == machine }
        guard own.allSatisfy({ stations[$0].responder.isStill(.established(.firstName)) }) else { return false }
        for index in own { stations[index].responder.takeFirstName(at: now) }
        return true
    }

    /// A host outside says that it has a name.
    mutating func claimOutside(_ name: DomainName) {
        claimed.insert(name)
        for index in stations.indices { hear(Self.answer([name]), from: Self.outside, at: index) }
    }

    mutating func releaseOutside(_ name: DomainName) { claimed.remove(name) }

    /// Machines that could not hear each other can: all say what they have.
    mutating func announceAgain() {
        // What was said a moment ago is not said again (RFC 6762 §6).
        now += .seconds(1)
        for index in stations.indices { stations[index].responder.announceAgain(at: now) }
    }

    // MARK: Time

    /// Lets everything happen that is due by a time, and what follows until no name is probed for.
    /// - Returns: what became of claims, if anything did; the rest follows in the next call.
    mutating func settle(until end: Duration) -> [(site: Site, fact: LinkResponder.Fact)] {
        while true {
            let facts = takeFacts()
            guard facts.isEmpty else { return facts }
            let next = stations.compactMap { $0.responder.deadline(at: now) }.min()
            guard let next, next <= max(end, now) || stations.contains(where: \.responder.isProbing) else {
                now = max(now, end)
                return []
            }
            now = max(now, next)
            for index in stations.indices { send(from: index) }
        }
    }

    private mutating func takeFacts() -> [(site: Site, fact: LinkResponder.Fact)] {
        var facts: [(site: Site, fact: LinkResponder.Fact)] = []
        for index in stations.indices {
            let site = stations[index].site
            facts += stations[index].responder.takeFacts().map { (site, $0) }
        }
        return facts
    }

    func isStill(_ fact: LinkResponder.Fact, at site: Site) -> Bool {
        stations.first { $0.site == site }?.responder.isStill(fact) ?? false
    }

    private mutating func send(from index: Int) {
        guard let due = stations[index].responder.deadline(at: now), due <= now else { return }
        let site = stations[index].site
        for packet in stations[index].responder.packets(at: now) {
            guard let message = try? Message(reading: packet.bytes),
                let source = site.addresses.first(where: { $0.family == packet.family }) ?? Self.nowhere(packet.family)
            else { continue }
            for other in stations.indices where other != index && hears(stations[other].site, site) {
                if let host = packet.host, !stations[other].responder.machine.contains(host.address) { continue }
                let arrival = MessageSource(
                    packet.family, from: source, to: packet.host == nil ? .group : .machine)
                stations[other].responder.heard(message, arrival, at: now)
            }
            // The host outside defends what it has.
            let taken = message.authorities.map(\.name).filter(claimed.contains)
            if !taken.isEmpty { hear(Self.answer(taken), from: Self.outside, at: index) }
        }
    }

    /// The sender where nobody hears it.
    private static func nowhere(_ family: IPAddress.Family) -> IPAddress? {
        family == .ipv4 ? .v4(IPv4Address(bits: 0)) : nil
    }

    private func hears(_ one: Site, _ other: Site) -> Bool {
        one.link == other.link && segments[one.machine] == segments[other.machine]
    }

    private mutating func hear(_ message: Message, from source: IPAddress, at index: Int) {
        for family in stations[index].site.families {
            stations[index].responder.heard(message, MessageSource(family, from: source), at: now)
        }
    }

    private static func answer(_ names: [DomainName]) -> Message {
        let target = DomainName(["outside"], in: .local) ?? .root
        return Message(
            flags: [.response, .authoritative],
            answers: names.map { name in
                ResourceRecord(
                    name, .srv, .srv(priority: 0, weight: 0, port: 9, target: target), ttl: Claim.hostTTL,
                    flushesCache: true)
            })
    }
}
