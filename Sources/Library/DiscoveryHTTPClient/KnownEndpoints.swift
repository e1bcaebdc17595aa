#if HTTPClient
internal import DNSSD
internal import Discovery
internal import DiscoverySystem

/// Where services answered a short while ago.
final class KnownEndpoints: Sendable {
    /// How long an address serves without being asked for again. The records of a host live 120 s (RFC 6762 §10).
    static let lifetime: Duration = .seconds(10)
    /// The most services that are remembered.
    static let maximumCount = 64

    private struct Entry {
        let place: ServicePlace
        let end: Duration
    }

    private let network: LocalNetwork
    private let policy: AddressPolicy
    private let entries = Locked<[ConnectTarget: Entry]>([:])

    init(network: LocalNetwork, policy: AddressPolicy) {
        self.network = network
        self.policy = policy
    }

    /// The place of a target if it is known, and if the policy still permits it.
    func place(of target: ConnectTarget) -> ServicePlace? {
        let now = network.directory.time.now
        guard let entry = entries.withLock({ $0[target] }) else { return nil }
        guard now < entry.end,
            network.endpoints(of: entry.place.service, permittedBy: policy).contains(entry.place.endpoint)
        else {
            forget(target)
            return nil
        }
        return entry.place
    }

    func remember(_ place: ServicePlace, of target: ConnectTarget) {
        let now = network.directory.time.now
        entries.withLock { entries in
            if entries.count >= Self.maximumCount { entries = entries.filter { now < $0.value.end } }
            if entries.count >= Self.maximumCount, let first = entries.min(by: { $0.value.end < $1.value.end }) {
                entries[first.key] = nil
            }
            entries[target] = Entry(place: place, end: now + Self.lifetime)
        }
    }

    func forget(_ target: ConnectTarget) { entries.withLock { $0[target] = nil } }
}
#endif
