/// A DNS message (RFC 1035 §4): of multicast DNS, of unicast DNS with EDNS, or an update (RFC 2136), whose zone, prerequisites and changes
/// are the first three sections.
public struct Message: Hashable, Sendable {
    /// Says which request an answer belongs to; zero in multicast DNS (RFC 6762 §18.1).
    public var id: UInt16
    /// The second word of the header.
    public var flags: Flags
    /// What is asked; in an update, the zone.
    public var questions: [Question]
    /// Answers, or what the asker knows already (RFC 6762 §7.1); in an update, prerequisites.
    public var answers: [ResourceRecord]
    /// Where to ask, or what a probe wants to claim (RFC 6762 §8.2); in an update, what changes.
    public var authorities: [ResourceRecord]
    /// Records that may also be useful, without the OPT record.
    public var additionals: [ResourceRecord]
    /// What the OPT record says, if there is one (RFC 6891).
    public var edns: EDNS?

    /// A message of these parts.
    public init(
        id: UInt16 = 0, flags: Flags = [], questions: [Question] = [], answers: [ResourceRecord] = [],
        authorities: [ResourceRecord] = [], additionals: [ResourceRecord] = [], edns: EDNS? = nil
    ) {
        self.id = id
        self.flags = flags
        self.questions = questions
        self.answers = answers
        self.authorities = authorities
        self.additionals = additionals
        self.edns = edns
    }

    /// The header's second word (RFC 1035 §4.1.1, RFC 4035 §3.1.6).
    public struct Flags: OptionSet, Hashable, Sendable {
        /// The word.
        public let rawValue: UInt16

        /// Flags by their bits.
        public init(rawValue: UInt16) { self.rawValue = rawValue }

        /// QR: a response.
        public static let response = Flags(rawValue: 1 << 15)
        /// AA: from who is in charge of the name; set in all responses of multicast DNS (RFC 6762 §18.4).
        public static let authoritative = Flags(rawValue: 1 << 10)
        /// TC: more than fits; in a query of multicast DNS, more known answers follow (RFC 6762 §7.2).
        public static let truncated = Flags(rawValue: 1 << 9)
        /// RD: the server may ask others.
        public static let recursionDesired = Flags(rawValue: 1 << 8)
        /// AD: checked by DNSSEC, says who answers.
        public static let authenticData = Flags(rawValue: 1 << 5)
    }

    /// What kind of request it is (RFC 1035 §4.1.1): 0 a query, 5 an update (RFC 2136 §1.3).
    public var opcode: UInt8 {
        get { UInt8(truncatingIfNeeded: flags.rawValue >> 11) & 0xF }
        set { flags = Flags(rawValue: flags.rawValue & ~0x7800 | UInt16(newValue & 0xF) << 11) }
    }

    /// The outcome: the header's four bits, and above them EDNS's eight (RFC 1035 §4.1.1, RFC 6891 §6.1.3).
    public var responseCode: UInt16 {
        UInt16(edns?.extendedResponseCode ?? 0) << 4 | flags.rawValue & 0xF
    }
}

/// One question (RFC 1035 §4.1.2).
public struct Question: Hashable, Sendable {
    /// Whose records.
    public var name: DomainName
    /// Which of them.
    public var type: RecordType
    /// Of which class.
    public var recordClass: RecordClass
    /// QU: the answer may come to the asker alone (RFC 6762 §5.4).
    public var wantsUnicastResponse: Bool

    /// A question; for a multicast answer unless it says otherwise.
    public init(
        _ name: DomainName, _ type: RecordType, recordClass: RecordClass = .internet, wantsUnicastResponse: Bool = false
    ) {
        self.name = name
        self.type = type
        self.recordClass = recordClass
        self.wantsUnicastResponse = wantsUnicastResponse
    }
}

/// One resource record (RFC 1035 §4.1.3).
public struct ResourceRecord: Hashable, Sendable {
    /// Whose record it is.
    public var name: DomainName
    /// What kind of record.
    public var type: RecordType
    /// Of which class.
    public var recordClass: RecordClass
    /// Cache-flush: what was known of this name, type and class before is over (RFC 6762 §10.2).
    public var flushesCache: Bool
    /// How long it holds, in seconds; 0 says goodbye (RFC 6762 §10.1).
    public var ttl: UInt32
    /// What it says.
    public var data: RecordData

    /// A record of these parts. `type` must be that of `data`.
    public init(
        _ name: DomainName, _ type: RecordType, _ data: RecordData, ttl: UInt32, flushesCache: Bool = false,
        recordClass: RecordClass = .internet
    ) {
        self.name = name
        self.type = type
        self.recordClass = recordClass
        self.flushesCache = flushesCache
        self.ttl = ttl
        self.data = data
    }
}

/// What an OPT record says (RFC 6891 §6.1).
public struct EDNS: Hashable, Sendable {
    /// The largest UDP message that the sender takes, in bytes.
    public var payloadSize: UInt16
    /// The upper eight bits of the response code.
    public var extendedResponseCode: UInt8
    /// 0 is the only version there is.
    public var version: UInt8
    /// DO: DNSSEC records are wanted (RFC 3225 §3), and bits without a meaning yet.
    public var flags: UInt16
    /// Options in their order.
    public var options: [Option]

    /// An OPT record of these parts.
    public init(
        payloadSize: UInt16, extendedResponseCode: UInt8 = 0, version: UInt8 = 0, flags: UInt16 = 0,
        options: [Option] = []
    ) {
        self.payloadSize = payloadSize
        self.extendedResponseCode = extendedResponseCode
        self.version = version
        self.flags = flags
        self.options = options
    }

    /// One option (RFC 6891 §6.1.2).
    public struct Option: Hashable, Sendable {
        /// Its number in IANA's registry.
        public var code: UInt16
        /// Its bytes.
        public var data: [UInt8]

        /// An option by its number.
        public init(code: UInt16, data: [UInt8]) {
            self.code = code
            self.data = data
        }
    }
}
