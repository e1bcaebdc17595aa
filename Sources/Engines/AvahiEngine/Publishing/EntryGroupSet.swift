import DNSSD
import Records

/// The entry groups of one service: one for all interfaces, or one per interface, so that an interface that comes or goes does not disturb
/// what is announced on the others; or one per address. Used only on the loop's thread.
final class EntryGroupSet<Place: Hashable> {
    private let connections: EntryGroupConnections
    private var groups: [Place: EntryGroup] = [:]
    private var states: [Place: EntryGroup.State] = [:]
    /// The places whose groups are committed; avahi-daemon says a moment later that it registers them.
    private var committed: Set<Place> = []

    init(connections: EntryGroupConnections) { self.connections = connections }

    func contains(_ place: Place) -> Bool { groups[place] != nil }

    /// The group of a place, created if needed. `changed` receives the resulting state of the whole set.
    func group(
        for place: Place,
        made make: (@escaping (EntryGroup.State) -> Void) throws(DiscoveryError) -> EntryGroup,
        changed: @escaping (EntryGroup.State) -> Void
    ) throws(DiscoveryError) -> EntryGroup {
        if let group = groups[place] { return group }
        let group = try make { [weak self] state in
            guard let self, self.groups[place] != nil else { return }
            self.states[place] = state
            if let together = self.together(after: state) { changed(together) }
        }
        groups[place] = group
        states[place] = .uncommitted
        return group
    }

    /// A group that collides or fails decides for all; the set is established only when every group is.
    private func together(after state: EntryGroup.State) -> EntryGroup.State? {
        guard state == .established else { return state }
        return areEstablished ? .established : nil
    }

    /// Whether every group is; false where there is none.
    var areEstablished: Bool { !states.isEmpty && states.values.allSatisfy { $0 == .established } }

    /// Frees the groups of all other places.
    func keep(_ places: some Collection<Place>) {
        for (place, group) in groups where !places.contains(place) {
            free(group)
            groups[place] = nil
            states[place] = nil
            committed.remove(place)
        }
    }

    /// Commits what the group of a place contains.
    func commit(_ place: Place) throws(DiscoveryError) {
        try groups[place]?.commit()
        committed.insert(place)
    }

    /// Changes what the groups contain and have committed.
    func update(_ body: (EntryGroup, Place) throws(DiscoveryError) -> Void) throws(DiscoveryError) {
        for (place, group) in groups where committed.contains(place) {
            switch states[place] {
            case .uncommitted, .registering, .established: try body(group, place)
            // The group will not keep its content.
            case .collision, .failed, nil: continue
            }
        }
    }

    func reset() {
        for place in groups.keys {
            groups[place]?.reset()
            states[place] = .uncommitted
        }
        committed = []
    }

    func free() {
        for group in groups.values { free(group) }
        groups = [:]
        states = [:]
        committed = []
    }

    private func free(_ group: EntryGroup) {
        let wasOpen = group.connection.isOpen
        group.free()
        if wasOpen { connections.freed(on: group.connection) }
    }
}
