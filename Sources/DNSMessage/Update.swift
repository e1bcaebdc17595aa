// Updates (RFC 2136): prerequisites and changes are records with an odd class, no time to live, and often no data.

extension Message {
    /// The opcode of an update (RFC 2136 §1.3).
    public static let updateOpcode: UInt8 = 5

    /// An update of a zone: all of the changes, or none where a prerequisite does not hold (RFC 2136 §3).
    public static func update(
        zone: DomainName, prerequisites: [ResourceRecord] = [], changes: [ResourceRecord]
    ) -> Message {
        var message = Message(questions: [Question(zone, .soa)], answers: prerequisites, authorities: changes)
        message.opcode = updateOpcode
        return message
    }
}

/// Prerequisites (RFC 2136 §2.4). A record as it is, with a TTL of 0, is one too: the records of its name and type are exactly those given.
extension ResourceRecord {
    /// The name has records.
    public static func isInUse(_ name: DomainName) -> ResourceRecord {
        ResourceRecord(name, .any, .other([]), ttl: 0, recordClass: .any)
    }

    /// The name has no records.
    public static func isNotInUse(_ name: DomainName) -> ResourceRecord {
        ResourceRecord(name, .any, .other([]), ttl: 0, recordClass: .none)
    }

    /// The name has records of the type.
    public static func exists(_ name: DomainName, _ type: RecordType) -> ResourceRecord {
        ResourceRecord(name, type, .other([]), ttl: 0, recordClass: .any)
    }

    /// The name has no records of the type.
    public static func isAbsent(_ name: DomainName, _ type: RecordType) -> ResourceRecord {
        ResourceRecord(name, type, .other([]), ttl: 0, recordClass: .none)
    }

    /// The records of this name and type are this one, and others that are given in the same way.
    public var asPrerequisite: ResourceRecord { with(ttl: 0, recordClass: .internet) }
}

/// Changes (RFC 2136 §2.5). A record as it is means that it is added.
extension ResourceRecord {
    /// The records of the type are deleted.
    public static func deleting(_ name: DomainName, _ type: RecordType) -> ResourceRecord {
        ResourceRecord(name, type, .other([]), ttl: 0, recordClass: .any)
    }

    /// The name's records are deleted, of whatever type. Knot's rules for types do not let it through.
    public static func deletingAll(_ name: DomainName) -> ResourceRecord { deleting(name, .any) }

    /// This one record is deleted.
    public var asDeletion: ResourceRecord { with(ttl: 0, recordClass: .none) }

    private func with(ttl: UInt32, recordClass: RecordClass) -> ResourceRecord {
        var record = self
        record.flushesCache = false
        record.ttl = ttl
        record.recordClass = recordClass
        return record
    }
}
