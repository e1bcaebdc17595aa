import DNSSD
import DiscoverySystem
import Records

/// The addresses of another host, which a service is on or which are published alone, in entry groups of their own: a collision tells which name
/// is taken. Used only on the loop's thread.
final class HostAddresses {
    /// Called when all groups are established, or one collides or fails; never from within a call.
    var changed: (EntryGroup.State) -> Void = { _ in }

    private let host: OfferedHost
    private let family: IPAddress.Family?
    private let connections: EntryGroupConnections
    private let groups: EntryGroupSet
    /// Nil if the service is on this host, or on one that answers for itself.
    init?(of service: OfferedService, connections: EntryGroupConnections) {
        guard let host = service.host, !host.addresses.isEmpty else { return nil }
        self.host = host
        family = service.family
        self.connections = connections
        groups = EntryGroupSet(connections: connections)
    }

    /// What is said when another host answers for the name.
    var isTaken: DiscoveryError { DiscoveryError(.nameTaken, "another host is called \(host.name)") }

    /// Publishes the addresses on these interfaces only.
    /// - Returns: whether all are established.
    func fill(_ interfaces: [Int32], besides connection: AvahiConnection) throws(DiscoveryError) -> Bool {
        guard !isThisMachine else {
            throw DiscoveryError(
                .invalidHostName, "\(host.name) is this machine, which publishes its addresses itself")
        }
        groups.keep(interfaces)
        for index in interfaces where !groups.contains(index) {
            let group = try groups.group(for: index) { changed throws(DiscoveryError) in
                try self.connections.group(besides: connection, stateChanged: changed)
            } changed: { [weak self] state in
                self?.changed(state)
            }
            do throws(DiscoveryError) {
                try group.add(host, over: family, interface: index)
                try group.commit()
            } catch {
                free()
                throw error
            }
        }
        return groups.areEstablished
    }

    /// avahi-daemon takes further addresses of its own name.
    private var isThisMachine: Bool {
        Environment.hostLabel.flatMap { try? HostName("\($0).local") } == host.name
    }

    /// Withdraws the addresses.
    func free() { groups.free() }
}
