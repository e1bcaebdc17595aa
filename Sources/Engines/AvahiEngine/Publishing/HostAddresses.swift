import DNSSD
import Discovery
import DiscoverySystem
import Records

/// The addresses of a host, which a service is on or which are published alone, in entry groups of their own: a collision tells which name
/// is taken. Those of this machine, under a further name, are followed: each has a group, as avahi-daemon has it of its own name. Used
/// only on the loop's thread.
final class HostAddresses {
    /// Where a group's addresses are published: on an interface (-1 for all), all of the host's or one of this machine's.
    private struct Place: Hashable {
        let interface: Int32
        var own: IPAddress?
    }

    /// Called when all groups are established, or one collides or fails; never from within a call.
    var changed: (EntryGroup.State) -> Void = { _ in }

    private let host: OfferedHost
    private let service: OfferedService
    private let connections: EntryGroupConnections
    private let groups: EntryGroupSet<Place>
    /// Groups with something in them.
    private var filled: Set<Place> = []
    /// The name that it has among those of this process.
    private var claimed: HostName?
    /// What is added then is no news.
    private var wereEstablished = false

    /// Nil if the service is on this host, or on one that answers for itself.
    init?(of service: OfferedService, connections: EntryGroupConnections) {
        guard let host = service.host, host.isAnsweredHere else { return nil }
        (self.host, self.service) = (host, service)
        self.connections = connections
        groups = EntryGroupSet(connections: connections)
    }

    /// Whether it changes with this machine's addresses.
    var follows: Bool { host.isAlias }

    /// What is said when another host answers for the name.
    var isTaken: DiscoveryError { DiscoveryError(.nameTaken, "another host is called \(host.name)") }

    /// Publishes the addresses on these interfaces only.
    /// - Parameter name: that of the publication.
    /// - Returns: whether all are established.
    func fill(
        _ interfaces: [Int32], as name: ServiceName, besides connection: AvahiConnection
    ) throws(DiscoveryError) -> Bool {
        guard !isThisMachine, host.name != connection.hostName else {
            throw DiscoveryError(
                .invalidHostName, "\(host.name) is this machine, which publishes its addresses itself")
        }
        let host = service.host(as: name) ?? self.host
        try claim(host)
        let places = try places(on: interfaces)
        groups.keep(places)
        filled.formIntersection(places)
        for place in places where !filled.contains(place) {
            let group = try groups.group(for: place) { changed throws(DiscoveryError) in
                try self.connections.group(besides: connection, stateChanged: changed)
            } changed: { [weak self] state in
                self?.became(state)
            }
            do throws(DiscoveryError) {
                try group.add(
                    place.own.map { [$0] } ?? host.addresses, of: host.name, over: service.family,
                    interface: place.interface)
                try group.commit()
                filled.insert(place)
            } catch {
                free()
                throw error
            }
        }
        return groups.areEstablished
    }

    /// - Throws: `.nameTaken` where this machine has the name, or another host for which it answers.
    private func claim(_ host: OfferedHost) throws(DiscoveryError) {
        guard claimed != host.name else { return }
        release()
        guard connections.hostClaims.claim(host.name, asAlias: host.isAlias) else {
            throw DiscoveryError(.nameTaken, "another host is called \(host.name)")
        }
        claimed = host.name
    }

    private func release() {
        if let claimed { connections.hostClaims.release(claimed, asAlias: host.isAlias) }
        claimed = nil
    }

    private func became(_ state: EntryGroup.State) {
        if state == .registering, wereEstablished { return }
        if state == .established { wereEstablished = true }
        changed(state)
    }

    /// - Throws: `.invalidInterface` if this machine has no address that others could use.
    private func places(on interfaces: [Int32]) throws(DiscoveryError) -> [Place] {
        guard host.isAlias else { return interfaces.map { Place(interface: $0) } }
        let places = SystemInterfaces.addresses(by: service.interfaces).map { interface, address in
            Place(interface: Int32(bitPattern: interface.index), own: address.masked(to: 128))
        }
        guard !places.isEmpty else { throw DiscoveryError(.invalidInterface, SystemInterfaces.absence(of: .all)) }
        return places
    }

    /// avahi-daemon takes further addresses of its own name.
    private var isThisMachine: Bool {
        Environment.hostLabel.flatMap { try? HostName("\($0).local") } == host.name
    }

    /// Withdraws the addresses, and keeps what counts their collisions.
    func reset() {
        groups.reset()
        release()
        (filled, wereEstablished) = ([], false)
    }

    /// Withdraws the addresses.
    func free() {
        groups.free()
        release()
        (filled, wereEstablished) = ([], false)
    }
}
