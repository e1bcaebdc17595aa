// Updates (RFC 2136): the class, TTL and data of a record tell which prerequisite or change it stands for.

extension Message {
    /// The opcode of an update (RFC 2136 §1.3).
    public static let updateOpcode: UInt8 = 5

    /// Creates an update of a zone. The server makes all changes, or none if a prerequisite does not hold (RFC 2136
    /// §3).
    public static func update(
        zone: DomainName, prerequisites: [ResourceRecord] = [], changes: [ResourceRecord]
    ) -> Message {
        var message = Message(questions: [Question(zone, .soa)], answers: prerequisites, authorities: changes)
        message.opcode = updateOpcode
        return message
    }
}

/// Prerequisites (RFC 2136 §2.4).
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

    /// The records of this name and type are exactly this one and those that are required with it.
    public var asPrerequisite: ResourceRecord { with(ttl: 0, recordClass: .internet) }
}

/// Changes (RFC 2136 §2.5). An unchanged record is added.
extension ResourceRecord {
    /// Deletes the name's records of a type.
    public static func deleting(_ name: DomainName, _ type: RecordType) -> ResourceRecord {
        ResourceRecord(name, type, .other([]), ttl: 0, recordClass: .any)
    }

    /// Deletes all records of a name. Knot's rules for types refuse it.
    public static func deletingAll(_ name: DomainName) -> ResourceRecord { deleting(name, .any) }

    /// Deletes this one record.
    public var asDeletion: ResourceRecord { with(ttl: 0, recordClass: .none) }

    private func with(ttl: UInt32, recordClass: RecordClass) -> ResourceRecord {
        var record = self
        record.flushesCache = false
        record.ttl = ttl
        record.recordClass = recordClass
        return record
    }
}
