/// A DNS message (RFC 1035 §4) of multicast DNS or of unicast DNS with EDNS. In an update (RFC 2136) the first three
/// sections are the zone, the prerequisites and the changes.
public struct Message: Hashable, Sendable {
    /// Matches a response to its request; zero in multicast DNS (RFC 6762 §18.1).
    public var id: UInt16
    /// The second word of the header.
    public var flags: Flags
    /// The questions; in an update, the zone.
    public var questions: [Question]
    /// The answers, or a querier's known answers (RFC 6762 §7.1); in an update, the prerequisites.
    public var answers: [ResourceRecord]
    /// The authorities, or the records that a probe claims (RFC 6762 §8.2); in an update, the changes.
    public var authorities: [ResourceRecord]
    /// Further records that may be useful, without the OPT record.
    public var additionals: [ResourceRecord]
    /// The contents of the OPT record, if there is one (RFC 6891).
    public var edns: EDNS?

    /// Creates a message.
    public init(
        id: UInt16 = 0, flags: Flags = [], questions: [Question] = [], answers: [ResourceRecord] = [],
        authorities: [ResourceRecord] = [], additionals: [ResourceRecord] = [], edns: EDNS? = nil
    ) {
        (self.id, self.flags, self.questions, self.answers) = (id, flags, questions, answers)
        (self.authorities, self.additionals, self.edns) = (authorities, additionals, edns)
    }

    /// The header's second word (RFC 1035 §4.1.1, RFC 4035 §3.1.6).
    public struct Flags: OptionSet, Hashable, Sendable {
        /// The header's second word.
        public let rawValue: UInt16

        /// Creates flags from their bits.
        public init(rawValue: UInt16) { self.rawValue = rawValue }

        /// QR: the message is a response.
        public static let response = Flags(rawValue: 1 << 15)
        /// AA: the sender is an authority for the name; set in all responses of multicast DNS (RFC 6762 §18.4).
        public static let authoritative = Flags(rawValue: 1 << 10)
        /// TC: the message was cut; in a query of multicast DNS, more known answers follow (RFC 6762 §7.2).
        public static let truncated = Flags(rawValue: 1 << 9)
        /// RD: the server should ask other servers.
        public static let recursionDesired = Flags(rawValue: 1 << 8)
        /// AD: the server validated the answer with DNSSEC.
        public static let authenticData = Flags(rawValue: 1 << 5)
    }

    /// The kind of request (RFC 1035 §4.1.1): 0 for a query, 5 for an update (RFC 2136 §1.3).
    public var opcode: UInt8 {
        get { UInt8(truncatingIfNeeded: flags.rawValue >> 11) & 0xF }
        set { flags = Flags(rawValue: flags.rawValue & ~0x7800 | UInt16(newValue & 0xF) << 11) }
    }

    /// The outcome: EDNS's eight bits above the header's four (RFC 1035 §4.1.1, RFC 6891 §6.1.3).
    public var responseCode: UInt16 {
        UInt16(edns?.extendedResponseCode ?? 0) << 4 | flags.rawValue & 0xF
    }
}

/// One question (RFC 1035 §4.1.2).
public struct Question: Hashable, Sendable {
    /// The name whose records are asked for.
    public var name: DomainName
    /// The type of the records.
    public var type: RecordType
    /// The class of the records.
    public var recordClass: RecordClass
    /// QU: the answer may be sent to the querier alone (RFC 6762 §5.4).
    public var wantsUnicastResponse: Bool

    /// Creates a question.
    public init(
        _ name: DomainName, _ type: RecordType, recordClass: RecordClass = .internet, wantsUnicastResponse: Bool = false
    ) {
        (self.name, self.type) = (name, type)
        (self.recordClass, self.wantsUnicastResponse) = (recordClass, wantsUnicastResponse)
    }
}

/// A name and a type: the subject of a question, and the key of what is known.
package struct RecordKey: Hashable, Sendable {
    package let name: DomainName
    package let type: RecordType

    package init(_ name: DomainName, _ type: RecordType) {
        self.name = name
        self.type = type
    }

    /// A hash for tables of one's own: the name's, spread by type.
    package var code: UInt32 { name.code &+ UInt32(type.rawValue) &* 0x9E37_79B1 }
}

/// One resource record (RFC 1035 §4.1.3).
public struct ResourceRecord: Hashable, Sendable {
    /// The name that owns the record.
    public var name: DomainName
    /// The record's type.
    public var type: RecordType
    /// The record's class.
    public var recordClass: RecordClass
    /// Cache-flush: older records of this name, type and class are no longer valid (RFC 6762 §10.2).
    public var flushesCache: Bool
    /// The time to live in seconds; 0 is a goodbye (RFC 6762 §10.1).
    public var ttl: UInt32
    /// The record's data.
    public var data: RecordData

    /// Creates a record. `type` must match `data`.
    public init(
        _ name: DomainName, _ type: RecordType, _ data: RecordData, ttl: UInt32, flushesCache: Bool = false,
        recordClass: RecordClass = .internet
    ) {
        (self.name, self.type, self.recordClass) = (name, type, recordClass)
        (self.flushesCache, self.ttl, self.data) = (flushesCache, ttl, data)
    }
}

/// The contents of an OPT record (RFC 6891 §6.1).
public struct EDNS: Hashable, Sendable {
    /// The largest UDP message that the sender accepts, in bytes.
    public var payloadSize: UInt16
    /// The upper eight bits of the response code.
    public var extendedResponseCode: UInt8
    /// The version; only 0 is defined.
    public var version: UInt8
    /// The DO bit, which asks for DNSSEC records (RFC 3225 §3), and fifteen reserved bits.
    public var flags: UInt16
    /// The options in order.
    public var options: [Option]

    /// Creates the contents of an OPT record.
    public init(
        payloadSize: UInt16, extendedResponseCode: UInt8 = 0, version: UInt8 = 0, flags: UInt16 = 0,
        options: [Option] = []
    ) {
        (self.payloadSize, self.extendedResponseCode, self.version) = (payloadSize, extendedResponseCode, version)
        (self.flags, self.options) = (flags, options)
    }

    /// One option (RFC 6891 §6.1.2).
    public struct Option: Hashable, Sendable {
        /// The number in IANA's registry.
        public var code: UInt16
        /// The option's bytes.
        public var data: [UInt8]

        /// Creates an option.
        public init(code: UInt16, data: [UInt8]) {
            self.code = code
            self.data = data
        }
    }
}

/// What could be read of a message of multicast DNS: records up to the first fault.
///
/// Small stacks cut their messages, or count more records than they send. What was whole is as good as before; what is missing is not known, so
/// such a message adds and prolongs records, and neither flushes nor ends any.
package struct HeardMessage: Hashable, Sendable {
    /// What was read; with a fault, without goodbyes and cache-flush bits.
    package private(set) var message = Message()
    /// Why reading ended before the last record; nil if all was read.
    package private(set) var fault: MessageError?

    /// Reads a message. OPT records that cannot be read, and all after the first, stay records of bytes.
    ///
    /// Nil where not even the header is whole, and for a query with a fault: its questions may be answered by what was cut off.
    package init?(_ bytes: [UInt8]) {
        guard 12...Message.maximumLength ~= bytes.count else { return nil }
        do throws(MessageError) {
            try message.read(bytes, .incidental)
        } catch {
            guard message.flags.contains(.response) else { return nil }
            fault = error
            message.answers = Self.additions(message.answers)
            message.authorities = Self.additions(message.authorities)
            message.additionals = Self.additions(message.additionals)
        }
    }

    /// The records that end nothing. A TTL with its top bit set is zero (RFC 2181 §8).
    private static func additions(_ records: [ResourceRecord]) -> [ResourceRecord] {
        records.filter { $0.ttl > 0 && $0.ttl >> 31 == 0 }.map {
            var record = $0
            record.flushesCache = false
            return record
        }
    }
}
