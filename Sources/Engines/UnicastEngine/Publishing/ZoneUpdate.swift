package import DNSMessage

/// One update of a zone: prerequisites, and changes that are made together if every prerequisite holds (RFC 2136 §2.4
/// and §2.5).
package struct ZoneUpdate: Hashable, Sendable {
    /// The prerequisites.
    package private(set) var prerequisites: [ResourceRecord] = []
    /// The changes, in order.
    package private(set) var changes: [ResourceRecord] = []

    package init() {}

    // MARK: Prerequisites

    /// Requires that the name has no records (§2.4.5).
    package mutating func requireUnused(_ name: DomainName) {
        prerequisites.append(.isNotInUse(name))
    }

    /// Requires that the name has a record of the type, whatever its data (§2.4.1).
    package mutating func requireExists(_ name: DomainName, _ type: RecordType) {
        prerequisites.append(.exists(name, type))
    }

    /// Requires that the name has no record of the type (§2.4.3).
    package mutating func requireAbsent(_ name: DomainName, _ type: RecordType) {
        prerequisites.append(.isAbsent(name, type))
    }

    /// Requires that the name's only record of the type has this data (§2.4.2).
    package mutating func require(_ name: DomainName, _ type: RecordType, _ data: RecordData) {
        prerequisites.append(ResourceRecord(name, type, data, ttl: 0))
    }

    // MARK: Changes

    /// Adds a record; others of its type stay (§2.5.1). Nothing is added to a wildcard, whoever asks for it: what must not
    /// be one is refused where its name is read. What an earlier version wrote is deleted as any other name.
    package mutating func add(_ name: DomainName, _ type: RecordType, _ data: RecordData, ttl: UInt32) {
        guard !name.isWildcard else { return }
        changes.append(ResourceRecord(name, type, data, ttl: ttl))
    }

    /// Deletes all records of a type (§2.5.2).
    package mutating func deleteAll(_ name: DomainName, _ type: RecordType) {
        changes.append(.deleting(name, type))
    }

    /// Deletes one record if it exists (§2.5.4).
    package mutating func delete(_ name: DomainName, _ type: RecordType, _ data: RecordData) {
        changes.append(ResourceRecord(name, type, data, ttl: 0).asDeletion)
    }

    /// Makes this the name's only record of the type, with no moment in which there is none.
    package mutating func replace(_ name: DomainName, _ type: RecordType, with data: RecordData, ttl: UInt32) {
        deleteAll(name, type)
        add(name, type, data, ttl: ttl)
    }

    /// Returns the message to a zone's server; the transport sets its id.
    package func message(to zone: DomainName) -> Message {
        .update(zone: zone, prerequisites: prerequisites, changes: changes)
    }
}
