import DNSSD
import DiscoverySystem
import Records

/// The connections that hold entry groups: avahi-daemon limits the objects of each client (`objects-per-client-max`), and browsing needs
/// some too. Used only on the loop's thread.
///
/// The first connection is the engine's own. Its state holds for all, because all lead to the same avahi-daemon.
final class EntryGroupConnections {
    /// Groups on the engine's own connection; leaves room for resolvers.
    static let groupsOnFirst = 256
    /// Objects on each further connection; avahi-daemon's limit is 1024.
    static let objectsOnOther = 1_000
    /// D-Bus allows a user 256 connections (`max_connections_per_user`); this many hold 16 000 services.
    static let maximumOthers = 16

    private let loop: EventLoop
    private var others: [AvahiConnection] = []
    private var groupsOnFirst = 0
    /// For which names addresses are published.
    var hostClaims = HostClaims()
    /// Called when a further connection fails.
    var failed: (DiscoveryError) -> Void = { _ in }

    init(loop: EventLoop) { self.loop = loop }

    /// Makes a group on a connection with room for it.
    /// - Throws: `.limitExceeded` if all are full, or avahi-daemon takes no more.
    func group(
        besides first: AvahiConnection, stateChanged: @escaping (EntryGroup.State) -> Void
    ) throws(DiscoveryError) -> EntryGroup {
        let connection = try connection(besides: first)
        let group = try EntryGroup(on: connection, stateChanged: stateChanged)
        // One that was refused takes no room.
        if connection === first { groupsOnFirst += 1 }
        return group
    }

    private func connection(besides first: AvahiConnection) throws(DiscoveryError) -> AvahiConnection {
        if groupsOnFirst < Self.groupsOnFirst { return first }
        if let other = others.first(where: { $0.objectCount < Self.objectsOnOther }) { return other }
        guard others.count < Self.maximumOthers else {
            let limit = Self.groupsOnFirst + Self.maximumOthers * Self.objectsOnOther
            throw DiscoveryError(.limitExceeded, "more than \(limit) services are published by one process")
        }
        let made = try AvahiConnection(loop: loop) { [weak self] state in
            if case .failed(let error) = state { self?.failed(error) }
        }
        switch made.currentState {
        case .running, .registering: break
        case .connecting: throw DiscoveryError(.backendUnavailable, "avahi-daemon is not running")
        case .failed(let error): throw error
        }
        others.append(made)
        return made
    }

    /// Call after freeing a group whose connection is still open.
    func freed(on connection: AvahiConnection) {
        if !others.contains(where: { $0 === connection }) { groupsOnFirst = max(0, groupsOnFirst - 1) }
    }

    /// The number of objects that avahi-daemon holds for the further connections.
    var objectCount: Int { others.reduce(0) { $0 + $1.objectCount } }

    /// Closes the further connections: all groups are gone, or go with them.
    func close() {
        for connection in others { connection.close() }
        others = []
        groupsOnFirst = 0
    }
}

/// Names that are this machine's further ones, and names of other hosts for which it answers. avahi-daemon takes the addresses of both for one name, so that a
/// host that a mirror brings could be an alias of this machine. A value.
struct HostClaims {
    private var counts: [HostName: (aliases: Int, others: Int)] = [:]

    /// - Returns: whether it may be published so.
    mutating func claim(_ name: HostName, asAlias isAlias: Bool) -> Bool {
        var count = counts[name] ?? (0, 0)
        guard (isAlias ? count.others : count.aliases) == 0 else { return false }
        if isAlias { count.aliases += 1 } else { count.others += 1 }
        counts[name] = count
        return true
    }

    mutating func release(_ name: HostName, asAlias isAlias: Bool) {
        guard var count = counts[name] else { return }
        if isAlias { count.aliases -= 1 } else { count.others -= 1 }
        counts[name] = count == (0, 0) ? nil : count
    }
}
