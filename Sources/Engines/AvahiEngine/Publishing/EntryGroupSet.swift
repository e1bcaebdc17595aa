import DNSSD
import Records

/// The entry groups of one service: one for all interfaces, or one per interface, so that an interface that comes or goes does not disturb
/// what is announced on the others. Used only on the loop's thread.
final class EntryGroupSet {
    private let connections: EntryGroupConnections
    private var groups: [Int32: EntryGroup] = [:]
    private var states: [Int32: EntryGroup.State] = [:]

    init(connections: EntryGroupConnections) { self.connections = connections }

    func contains(_ index: Int32) -> Bool { groups[index] != nil }

    /// The group of an interface, created if needed. `changed` receives the resulting state of the whole set.
    func group(
        for index: Int32,
        made make: (@escaping (EntryGroup.State) -> Void) throws(DiscoveryError) -> EntryGroup,
        changed: @escaping (EntryGroup.State) -> Void
    ) throws(DiscoveryError) -> EntryGroup {
        if let group = groups[index] { return group }
        let group = try make { [weak self] state in
            guard let self, self.groups[index] != nil else { return }
            self.states[index] = state
            if let together = self.together(after: state) { changed(together) }
        }
        groups[index] = group
        states[index] = .uncommitted
        return group
    }

    /// A group that collides or fails decides for all; the set is established only when every group is.
    private func together(after state: EntryGroup.State) -> EntryGroup.State? {
        guard state == .established else { return state }
        return areEstablished ? .established : nil
    }

    /// Whether every group is; false where there is none.
    var areEstablished: Bool { !states.isEmpty && states.values.allSatisfy { $0 == .established } }

    /// Frees the groups of all other interfaces.
    func keep(_ indexes: [Int32]) {
        for (index, group) in groups where !indexes.contains(index) {
            free(group)
            groups[index] = nil
            states[index] = nil
        }
    }

    /// Changes what the groups contain and have committed.
    func update(_ body: (EntryGroup, Int32) throws(DiscoveryError) -> Void) throws(DiscoveryError) {
        for (index, group) in groups {
            switch states[index] {
            case .registering, .established: try body(group, index)
            // The group is empty, or will not keep its content.
            case .uncommitted, .collision, .failed, nil: continue
            }
        }
    }

    func reset() {
        for index in groups.keys {
            groups[index]?.reset()
            states[index] = .uncommitted
        }
    }

    func free() {
        for group in groups.values { free(group) }
        groups = [:]
        states = [:]
    }

    private func free(_ group: EntryGroup) {
        let wasOpen = group.connection.isOpen
        group.free()
        if wasOpen { connections.freed(on: group.connection) }
    }
}
