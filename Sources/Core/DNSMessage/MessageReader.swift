internal import DNSSD

extension Message {
    /// The longest message of multicast DNS in bytes. RFC 6762 §17 counts the IP and UDP headers too; this does not.
    public static let maximumMulticastLength = 9000
    /// The longest message over TCP in bytes (RFC 1035 §4.2.2).
    public static let maximumLength = 65_535

    /// Reads a message; bytes after the last record are ignored.
    ///
    /// Data that breaks the format of its type is kept as `.other`, so that one odd record does not hide the others.
    /// Memory is bounded by the message's length, with at most 255 bytes for each name.
    /// - Parameters:
    ///   - bytes: the message on the wire.
    ///   - limit: the most bytes that are accepted.
    /// - Throws: the fault in the header, in a name, or in the frame of a record; `.tooLong` beyond `limit`.
    public init(reading bytes: [UInt8], limit: Int = maximumLength) throws(MessageError) {
        guard bytes.count <= limit else { throw .tooLong }
        self.init()
        try read(bytes, .negotiated)
    }

    /// Reads into an empty message, in order: what comes before a fault stays.
    mutating func read(_ bytes: [UInt8], _ use: EDNS.Use) throws(MessageError) {
        var reader = MessageReader(bytes)
        id = try reader.word()
        flags = Flags(rawValue: try reader.word())
        let counts = (try reader.word(), try reader.word(), try reader.word(), try reader.word())
        for _ in 0..<counts.0 { questions.append(try reader.question()) }
        try reader.read(counts.1, into: &answers, &edns, use)
        try reader.read(counts.2, into: &authorities, &edns, use)
        try reader.read(counts.3, into: &additionals, &edns, use)
    }
}

extension EDNS {
    /// What OPT records are for.
    enum Use {
        /// They tell what both sides can do: there is one at most, and it is whole (RFC 6891 §6.1.1).
        case negotiated
        /// Multicast DNS: a record like others. What cannot be read, and what follows a first, stays a record of bytes.
        case incidental
    }

    /// Reads the data of an OPT record, whose class and TTL have a meaning of their own; nil if an option does not fit.
    init?(_ record: ResourceRecord) {
        guard case .other(let data) = record.data else { return nil }
        self.init(
            payloadSize: record.recordClass.rawValue | (record.flushesCache ? 0x8000 : 0),
            extendedResponseCode: UInt8(truncatingIfNeeded: record.ttl >> 24),
            version: UInt8(truncatingIfNeeded: record.ttl >> 16), flags: UInt16(truncatingIfNeeded: record.ttl))
        var reader = MessageReader(data)
        while reader.index < data.count {
            guard let code = try? reader.word(), let length = try? reader.word(),
                let option = try? reader.take(Int(length))
            else { return nil }
            options.append(Option(code: code, data: option))
        }
    }
}

/// Reads the fields of a message in order. Every index is compared with the end before it is used.
struct MessageReader {
    /// The most pointers that are followed within one name: a name has at most 127 labels, and one pointer may follow
    /// each.
    private static let maximumPointers = 127

    private let bytes: [UInt8]
    private(set) var index = 0
    /// Names by their place in the message, in order: most names end in a pointer to one that was read before.
    private var names: [DomainName] = []
    private var places: [Int] = []
    /// The last strings: services of one host often say the same.
    private var text: [UInt8] = []

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func byte() throws(MessageError) -> UInt8 {
        guard index < bytes.count else { throw .truncated }
        defer { index += 1 }
        return bytes[index]
    }

    mutating func word() throws(MessageError) -> UInt16 {
        guard bytes.count - index >= 2 else { throw .truncated }
        defer { index += 2 }
        return UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1])
    }

    private mutating func doubleWord() throws(MessageError) -> UInt32 { UInt32(try word()) << 16 | UInt32(try word()) }

    mutating func question() throws(MessageError) -> Question {
        let name = try name()
        let (type, rawClass) = (RecordType(rawValue: try word()), try word())
        return Question(
            name, type, recordClass: RecordClass(rawValue: rawClass & 0x7FFF), wantsUnicastResponse: rawClass >> 15 == 1
        )
    }

    /// Reads records into a section, or into `edns`.
    mutating func read(
        _ count: UInt16, into records: inout [ResourceRecord], _ edns: inout EDNS?, _ use: EDNS.Use
    ) throws(MessageError) {
        for _ in 0..<count {
            let record = try record()
            guard record.type == .opt else {
                records.append(record)
                continue
            }
            switch (edns, EDNS(record), use) {
            case (nil, let read?, _): edns = read
            case (_, _, .incidental): records.append(record)
            case (_?, _, .negotiated): throw .repeatedOPT
            case (nil, nil, .negotiated): throw .truncated
            }
        }
    }

    mutating func record() throws(MessageError) -> ResourceRecord {
        let name = try name()
        let (type, rawClass, ttl) = (RecordType(rawValue: try word()), try word(), try doubleWord())
        let length = Int(try word())
        guard bytes.count - index >= length else { throw .truncated }
        let range = index..<index + length
        index = range.upperBound
        return ResourceRecord(
            name, type, data(type, in: range), ttl: ttl, flushesCache: rawClass >> 15 == 1,
            recordClass: RecordClass(rawValue: rawClass & 0x7FFF))
    }

    // MARK: Data

    fileprivate mutating func data(_ type: RecordType, in range: Range<Int>) -> RecordData {
        let end = index
        defer { index = end }
        index = range.lowerBound
        guard let data = try? known(type, in: range), index == range.upperBound else {
            return .other(Array(bytes[range]))
        }
        return data
    }

    private mutating func known(_ type: RecordType, in range: Range<Int>) throws(MessageError) -> RecordData? {
        switch type {
        case .a: return .a(try doubleWord())
        case .aaaa:
            let words = (try doubleWord(), try doubleWord(), try doubleWord(), try doubleWord())
            return .aaaa(
                high: UInt64(words.0) << 32 | UInt64(words.1), low: UInt64(words.2) << 32 | UInt64(words.3))
        case .ptr: return .ptr(try name())
        case .cname: return .cname(try name())
        case .ns: return .ns(try name())
        case .srv: return .srv(priority: try word(), weight: try word(), port: try word(), target: try name())
        case .txt:
            guard TextStrings.areWhole(bytes[range]) else { return nil }
            index = range.upperBound
            if !text.elementsEqual(bytes[range]) { text = Array(bytes[range]) }
            return .txt(text)
        case .hinfo: return .hinfo(cpu: try string(), os: try string())
        case .nsec:
            let next = try name()
            guard 0...Self.bitmapLimit ~= range.upperBound - index else { return nil }
            guard let types = TypeBitmap(windows: bytes[index..<range.upperBound]) else { return nil }
            index = range.upperBound
            return .nsec(next: next, types: types)
        case .soa:
            return .soa(
                StartOfAuthority(
                    primary: try name(), mailbox: try name(), serial: try doubleWord(), refresh: try doubleWord(),
                    retry: try doubleWord(), expire: try doubleWord(), minimum: try doubleWord()))
        case .tsig: return .tsig(try signature())
        default: return try expanded(type, in: range)
        }
    }

    /// The types whose names may be compressed (RFC 3597 §4): how many bytes come before them, and how many names there are.
    private static let compressible: [UInt16: (before: Int, names: Int)] = [
        3: (0, 1), 4: (0, 1), 7: (0, 1), 8: (0, 1), 9: (0, 1), 14: (0, 2), 15: (2, 1), 17: (0, 2), 18: (2, 1),
        21: (2, 1),
        26: (2, 2), 35: (4, 1),
    ]
    private static let naptr: UInt16 = 35

    /// The data with whole names: outside of the message a pointer leads nowhere.
    private mutating func expanded(_ type: RecordType, in range: Range<Int>) throws(MessageError) -> RecordData? {
        guard let layout = Self.compressible[type.rawValue], range.count > layout.before else { return nil }
        index += layout.before
        // Flags, service and expression (RFC 3403 §4.1).
        if type.rawValue == Self.naptr { for _ in 0..<3 { _ = try string() } }
        guard index <= range.upperBound else { return nil }
        var data = Array(bytes[range.lowerBound..<index])
        for _ in 0..<layout.names { data += try name().wire }
        return .other(data)
    }

    private mutating func signature() throws(MessageError) -> TransactionSignature {
        let algorithm = try name()
        let time = UInt64(try word()) << 32 | UInt64(try doubleWord())
        let fudge = try word()
        let mac = try take(Int(try word()))
        let (originalID, error) = (try word(), try word())
        return TransactionSignature(
            algorithm: algorithm, time: time, fudge: fudge, mac: mac, originalID: originalID, error: error,
            other: try take(Int(try word())))
    }

    private mutating func string() throws(MessageError) -> [UInt8] { try take(Int(try byte())) }

    mutating func take(_ count: Int) throws(MessageError) -> [UInt8] {
        guard bytes.count - index >= count else { throw .truncated }
        defer { index += count }
        return Array(bytes[index..<index + count])
    }

    /// The longest type bitmap in bytes: eight windows of the 256 possible ones. Multicast DNS has one (RFC 6762 §6.1).
    private static let bitmapLimit = 8 * 34

    // MARK: Names

    /// Reads a name, and leaves the index after the name or after its first pointer.
    mutating func name() throws(MessageError) -> DomainName {
        let start = index
        var wire: [UInt8] = []
        var (place, pointers) = (index, 0)
        // A pointer must lead to an earlier place than any part of this name, so a chain cannot loop.
        var earliest = index
        while true {
            guard place < bytes.count else { throw .truncated }
            let length = Int(bytes[place])
            switch length >> 6 {
            case 0b00:
                guard bytes.count - place > length else { throw .truncated }
                guard wire.count + length + 1 <= DomainName.maximumLength else { throw .invalidName }
                wire.append(contentsOf: bytes[place...place + length])
                place += length + 1
                if pointers == 0 { index = place }
                if length == 0 { return keep(wire, at: start) }
            case 0b11:
                guard bytes.count - place >= 2 else { throw .truncated }
                let target = (length & 0x3F) << 8 | Int(bytes[place + 1])
                if pointers == 0 { index = place + 2 }
                pointers += 1
                guard target < earliest, pointers <= Self.maximumPointers else { throw .badPointer }
                if let known = name(at: target) {
                    guard !wire.isEmpty else { return known }
                    guard wire.count + known.wire.count <= DomainName.maximumLength else { throw .invalidName }
                    return keep(wire + known.wire, at: start)
                }
                (earliest, place) = (target, target)
            default: throw .reservedLabel
            }
        }
    }

    private mutating func keep(_ wire: [UInt8], at start: Int) -> DomainName {
        let name = DomainName(uncheckedWire: wire)
        // Fields are read in order, but for data that breaks its type's format.
        if places.last.map({ $0 < start }) ?? true {
            places.append(start)
            names.append(name)
        }
        return name
    }

    private func name(at place: Int) -> DomainName? {
        let index = places.partitioningIndex { $0 >= place }
        return index < places.count && places[index] == place ? names[index] : nil
    }
}

extension TextStrings {
    /// Returns whether every string fits, and there is at least one.
    static func areWhole(_ data: ArraySlice<UInt8>) -> Bool {
        var index = data.startIndex
        while index < data.endIndex { index += 1 + Int(data[index]) }
        return index == data.endIndex && !data.isEmpty
    }
}

/// The reason that bytes are not a DNS message, or that a message cannot be written.
public enum MessageError: Error, Hashable, Sendable {
    /// The bytes end within a field, or before the last record that the header counts.
    case truncated
    /// The message is longer than the limit, or does not fit into it.
    case tooLong
    /// A label's length byte begins with the bits 01 or 10, which no standard uses (RFC 6891 §5).
    case reservedLabel
    /// A compression pointer does not point backwards, or a name has too many of them (RFC 1035 §4.1.4).
    case badPointer
    /// A label is empty or longer than 63 bytes, or a name is longer than 255 (RFC 1035 §2.3.4).
    case invalidName
    /// A field is too long for the wire: a string over 255 bytes, or data over 65 535.
    case oversizedField
    /// There is more than one OPT record (RFC 6891 §6.1.1).
    case repeatedOPT
    /// A TSIG record is not the last record, or is malformed (RFC 8945 §5.1).
    case misplacedTSIG
}

extension RecordData {
    /// Reads the data of a record outside of a message, where names are whole.
    package init(uncompressed bytes: [UInt8], of type: RecordType) {
        var reader = MessageReader(bytes)
        self = reader.data(type, in: 0..<bytes.count)
    }
}
