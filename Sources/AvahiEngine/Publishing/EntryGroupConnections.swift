import DNSSD
import System

/// The connections on which entry groups are made: avahi-daemon gives each client a limited number of objects
/// (`objects-per-client-max`), and browsing needs some of them as well. Touched by the loop's thread only.
///
/// The first connection is the engine's own. Its states hold for all: they lead to the same avahi-daemon.
final class EntryGroupConnections {
    /// Groups on the engine's own connection, which leaves room for resolvers.
    static let groupsOnFirst = 256
    /// Objects on each further one; avahi-daemon's limit is 1024.
    static let objectsOnOther = 1_000
    /// D-Bus gives a user 256 connections (`max_connections_per_user`); this many are 16 000 services.
    static let maximumOthers = 16

    private let loop: EventLoop
    private var others: [AvahiConnection] = []
    private var groupsOnFirst = 0
    /// One of the further connections has failed.
    var failed: (DiscoveryError) -> Void = { _ in }

    init(loop: EventLoop) { self.loop = loop }

    /// A connection with room for one more group.
    /// - Throws: `.limitExceeded` when all are full.
    func connection(besides first: AvahiConnection) throws(DiscoveryError) -> AvahiConnection {
        if groupsOnFirst < Self.groupsOnFirst {
            groupsOnFirst += 1
            return first
        }
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

    /// A group was freed, with the connection still open.
    func freed(on connection: AvahiConnection) {
        if !others.contains(where: { $0 === connection }) { groupsOnFirst = max(0, groupsOnFirst - 1) }
    }

    /// What avahi-daemon holds for the further connections.
    var objectCount: Int { others.reduce(0) { $0 + $1.objectCount } }

    /// All groups are gone, or go with their connections.
    func close() {
        for connection in others { connection.close() }
        others = []
        groupsOnFirst = 0
    }
}
