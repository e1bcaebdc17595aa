package import DNSMessage

/// What one update asks of a zone: conditions, and changes that are made all together if every condition holds (RFC 2136 §2.4 and §2.5).
package struct ZoneUpdate: Hashable, Sendable {
    /// What must hold.
    package private(set) var prerequisites: [ResourceRecord] = []
    /// What changes, in order.
    package private(set) var changes: [ResourceRecord] = []

    package init() {}

    // MARK: Prerequisites

    /// The name has no record (§2.4.5).
    package mutating func requireUnused(_ name: DomainName) {
        prerequisites.append(.isNotInUse(name))
    }

    /// The name has a record of the type, whatever its value (§2.4.1).
    package mutating func requireExists(_ name: DomainName, _ type: RecordType) {
        prerequisites.append(.exists(name, type))
    }

    /// The name has no record of the type (§2.4.3).
    package mutating func requireAbsent(_ name: DomainName, _ type: RecordType) {
        prerequisites.append(.isAbsent(name, type))
    }

    /// The name's only record of the type is this (§2.4.2).
    package mutating func require(_ name: DomainName, _ type: RecordType, _ data: RecordData) {
        prerequisites.append(ResourceRecord(name, type, data, ttl: 0))
    }

    // MARK: Changes

    /// Adds a record; one that is there stays (§2.5.1).
    package mutating func add(_ name: DomainName, _ type: RecordType, _ data: RecordData, ttl: UInt32) {
        changes.append(ResourceRecord(name, type, data, ttl: ttl))
    }

    /// Deletes all records of a type (§2.5.2).
    package mutating func deleteAll(_ name: DomainName, _ type: RecordType) {
        changes.append(.deleting(name, type))
    }

    /// Deletes one record; none is no fault (§2.5.4).
    package mutating func delete(_ name: DomainName, _ type: RecordType, _ data: RecordData) {
        changes.append(ResourceRecord(name, type, data, ttl: 0).asDeletion)
    }

    /// Makes this the name's only record of the type, without a moment of absence.
    package mutating func replace(_ name: DomainName, _ type: RecordType, with data: RecordData, ttl: UInt32) {
        deleteAll(name, type)
        add(name, type, data, ttl: ttl)
    }

    /// The message to a zone's server; its id is the transport's.
    package func message(to zone: DomainName) -> Message {
        .update(zone: zone, prerequisites: prerequisites, changes: changes)
    }
}
