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
}

/// Changes (RFC 2136 §2.5). An unchanged record is added.
extension ResourceRecord {
    /// Deletes the name's records of a type.
    public static func deleting(_ name: DomainName, _ type: RecordType) -> ResourceRecord {
        ResourceRecord(name, type, .other([]), ttl: 0, recordClass: .any)
    }

    /// Deletes this one record.
    public var asDeletion: ResourceRecord { ResourceRecord(name, type, data, ttl: 0, recordClass: .none) }
}

/// The data of a TSIG record (RFC 8945 §4.2): the signature of a message, and how and when it was made.
public struct TransactionSignature: Hashable, Sendable {
    /// The name of the algorithm, such as `hmac-sha256.`
    public var algorithm: DomainName
    /// The time of signing, in seconds since 1970; 48 bits on the wire.
    public var time: UInt64
    /// The number of seconds by which the receiver's clock may differ.
    public var fudge: UInt16
    /// The signature; empty if a server cannot or will not sign (RFC 8945 §5.3.2).
    public var mac: [UInt8]
    /// The message's id when it was signed.
    public var originalID: UInt16
    /// 0, or a TSIG error such as `ResponseCode.badSignature`.
    public var error: UInt16
    /// The server's clock in six bytes with the error BADTIME; otherwise empty.
    public var other: [UInt8]

    /// Creates the data of a TSIG record.
    public init(
        algorithm: DomainName, time: UInt64, fudge: UInt16, mac: [UInt8], originalID: UInt16, error: UInt16 = 0,
        other: [UInt8] = []
    ) {
        (self.algorithm, self.time, self.fudge, self.mac) = (algorithm, time, fudge, mac)
        (self.originalID, self.error, self.other) = (originalID, error, other)
    }
}

/// A message on the wire, split into the signed bytes and their signature.
public struct SignedMessage: Sendable {
    /// The message before signing: without the TSIG record, and with its original id (RFC 8945 §4.3.2).
    public let unsigned: [UInt8]
    /// The key's name.
    public let key: DomainName
    /// The data of the TSIG record.
    public let signature: TransactionSignature

    /// Splits a message; nil if it has no TSIG record.
    /// - Throws: the fault in the message; `.misplacedTSIG` if a TSIG record is malformed or not the last (RFC 8945
    ///   §5.1).
    public init?(_ bytes: [UInt8]) throws(MessageError) {
        var reader = MessageReader(bytes)
        for _ in 0..<2 { _ = try reader.word() }
        let counts = [try reader.word(), try reader.word(), try reader.word(), try reader.word()]
        for _ in 0..<counts[0] { _ = try reader.question() }
        let records = counts[1...].reduce(0) { $0 + Int($1) }
        for number in 0..<records {
            let start = reader.index
            let record = try reader.record()
            guard record.type == .tsig else { continue }
            guard number == records - 1, counts[3] > 0, record.recordClass == .any, case .tsig(let read) = record.data
            else { throw .misplacedTSIG }
            var unsigned = Array(bytes[..<start])
            for (place, word) in [(0, read.originalID), (10, counts[3] - 1)] {
                unsigned[place] = UInt8(truncatingIfNeeded: word >> 8)
                unsigned[place + 1] = UInt8(truncatingIfNeeded: word)
            }
            (self.unsigned, key, signature) = (unsigned, record.name, read)
            return
        }
        return nil
    }
}
