import DNSMessage
import DNSSD
import Discovery
import DiscoverySystem

/// Tells the services of zones that this machine has published: the digest in their DHCID record is of an id that one of
/// this user's processes keeps.
package final class OwnServices: Sendable {
    /// How long this machine's addresses are believed, so that not every answer asks the system.
    private static let memory = Duration.seconds(5)

    private let directory: String?
    private let machine: String?
    private let read: @Sendable () -> LocalAddresses
    private let known = Locked<(addresses: LocalAddresses, at: ContinuousClock.Instant)?>(nil)

    /// - Parameters:
    ///   - directory: where publishers' ids are kept; nil for nowhere.
    ///   - machine: as of `UnicastPublisher`.
    ///   - addresses: reads this machine's addresses.
    init(
        directory: String?, machine: String? = UnicastPublisher.machineID,
        addresses: @escaping @Sendable () -> LocalAddresses = { .system() }
    ) {
        (self.directory, self.machine, read) = (directory, machine, addresses)
    }

    /// Whether an address is this machine's.
    func isAddress(_ address: IPAddress) -> Bool {
        let now = ContinuousClock.now
        let addresses = known.withLock { known in
            if let known, now - known.at < Self.memory { return known.addresses }
            let addresses = read()
            known = (addresses, now)
            return addresses
        }
        return addresses.isOwn(address)
    }

    /// Whether a name belongs to one of this user's publishers on this machine.
    func has(_ name: DomainName, owners: [RecordData]) -> Bool {
        guard let directory, !owners.isEmpty else { return false }
        return PublisherIdentity.kept(in: directory).contains { id in
            owners == [(machine.map(id.derived) ?? id).ownership(of: name)]
        }
    }
}
