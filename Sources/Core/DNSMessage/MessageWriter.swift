/// Writes a message record by record, up to a limit.
///
/// A record that does not fit leaves no trace, so that the caller can put it into the next message (RFC 6762 §7.2).
public struct MessageWriter: Sendable {
    /// Where names may be compressed.
    public enum Compression: Sendable {
        /// Everywhere (RFC 6762 §18.14).
        case multicast
        /// Everywhere except SRV targets and NSEC (RFC 2782, RFC 4034 §4.1.1, RFC 3597 §4).
        case unicast
    }

    /// The sections of records. Their numbers are their places in the header, where the questions have place 0.
    public enum Section: Int, Sendable {
        /// Answers, known answers, or an update's prerequisites.
        case answer = 1
        /// Authorities, or an update's changes.
        case authority
        /// Further records that may be useful.
        case additional
    }

    /// The furthest place that a pointer's 14 bits can name.
    private static let furthestPointer = 0x3FFF

    /// The message so far; complete after each call.
    public private(set) var bytes: [UInt8]
    private var counts: [UInt16] = [0, 0, 0, 0]
    private let limit: Int
    private let compression: Compression
    /// The place where each name, and each suffix of a name, was written first.
    private var places: [DomainName: Int] = [:]
    /// Names are never compressed, and no place is kept.
    fileprivate var hasWholeNames = false

    /// Creates a writer with an empty message.
    /// - Parameters:
    ///   - id: the message's id.
    ///   - flags: the header's flags.
    ///   - limit: the most bytes that the message may have; moved into 12, the header's size, to 65 535.
    ///   - compression: where names may be compressed.
    public init(id: UInt16 = 0, flags: Message.Flags = [], limit: Int, compression: Compression) {
        self.limit = min(max(limit, 12), Message.maximumLength)
        self.compression = compression
        bytes = []
        bytes.reserveCapacity(min(self.limit, 512))
        append(id)
        append(flags.rawValue)
        for _ in 0..<4 { append(UInt16(0)) }
    }

    /// Whether only the header has been written.
    public var isEmpty: Bool { counts.allSatisfy { $0 == 0 } }

    /// Replaces the header's flags.
    public mutating func setFlags(_ flags: Message.Flags) { put(flags.rawValue, at: 2) }

    /// Adds a question.
    /// - Returns: whether it was written; false if it does not fit or a record was written before.
    public mutating func add(_ question: Question) -> Bool {
        attempt(section: 0) { writer throws(MessageError) in
            writer.append(question.name, compressed: true)
            writer.append(question.type.rawValue)
            writer.append(question.recordClass.rawValue & 0x7FFF | (question.wantsUnicastResponse ? 0x8000 : 0))
        }
    }

    /// Adds a record.
    /// - Returns: whether it was written; false if it does not fit, a part is too long for its field, or a later
    ///   section has begun.
    public mutating func add(_ record: ResourceRecord, to section: Section) -> Bool {
        attempt(section: section.rawValue) { writer throws(MessageError) in
            // Names in a signature are never compressed (RFC 8945 §4.2).
            writer.append(record.name, compressed: record.type != .tsig)
            writer.append(record.type.rawValue)
            writer.append(record.recordClass.rawValue & 0x7FFF | (record.flushesCache ? 0x8000 : 0))
            writer.append(record.ttl)
            try writer.appendCounted { inner throws(MessageError) in try inner.append(record.data) }
        }
    }

    /// Adds an OPT record.
    /// - Returns: whether it was written; false if it does not fit.
    public mutating func add(_ edns: EDNS) -> Bool {
        attempt(section: Section.additional.rawValue) { writer throws(MessageError) in
            writer.bytes.append(0)
            writer.append(RecordType.opt.rawValue)
            writer.append(edns.payloadSize)
            writer.append(UInt32(edns.extendedResponseCode) << 24 | UInt32(edns.version) << 16 | UInt32(edns.flags))
            try writer.appendCounted { inner throws(MessageError) in
                for option in edns.options {
                    inner.append(option.code)
                    try inner.appendCounted { $0.bytes.append(contentsOf: option.data) }
                }
            }
        }
    }

    private mutating func attempt(section: Int, _ write: (inout MessageWriter) throws(MessageError) -> Void) -> Bool {
        let before = bytes.count
        guard counts[section] < .max, counts[(section + 1)...].allSatisfy({ $0 == 0 }), (try? write(&self)) != nil,
            bytes.count <= limit
        else {
            if bytes.count > before {
                bytes.removeLast(bytes.count - before)
                places = places.filter { $0.value < before }
            }
            return false
        }
        counts[section] += 1
        put(counts[section], at: 4 + 2 * section)
        return true
    }

    // MARK: Fields

    fileprivate mutating func append(_ data: RecordData) throws(MessageError) {
        switch data {
        case .a(let address): append(address)
        case .aaaa(let high, let low):
            for half in [high, low] {
                append(UInt32(truncatingIfNeeded: half >> 32))
                append(UInt32(truncatingIfNeeded: half))
            }
        case .ptr(let name), .cname(let name), .ns(let name): append(name, compressed: true)
        case .srv(let priority, let weight, let port, let target):
            for word in [priority, weight, port] { append(word) }
            append(target, compressed: compression == .multicast)
        case .txt(let data), .other(let data): bytes.append(contentsOf: data)
        case .nsec(let next, let types):
            append(next, compressed: compression == .multicast)
            bytes.append(contentsOf: types.bytes)
        case .hinfo(let cpu, let os):
            for string in [cpu, os] {
                guard let length = UInt8(exactly: string.count) else { throw .oversizedField }
                bytes.append(length)
                bytes.append(contentsOf: string)
            }
        case .soa(let soa):
            append(soa.primary, compressed: true)
            append(soa.mailbox, compressed: true)
            for word in [soa.serial, soa.refresh, soa.retry, soa.expire, soa.minimum] { append(word) }
        case .tsig(let signature):
            append(signature.algorithm, compressed: false)
            append(UInt16(truncatingIfNeeded: signature.time >> 32))
            append(UInt32(truncatingIfNeeded: signature.time))
            append(signature.fudge)
            try appendCounted { $0.bytes.append(contentsOf: signature.mac) }
            append(signature.originalID)
            append(signature.error)
            try appendCounted { $0.bytes.append(contentsOf: signature.other) }
        }
    }

    /// Writes a name; if `compressed`, a suffix that was written before becomes a pointer.
    private mutating func append(_ name: DomainName, compressed: Bool) {
        if hasWholeNames { return bytes.append(contentsOf: name.wire) }
        var rest = name
        while let length = rest.wire.first, length > 0 {
            let place = places[rest]
            if compressed, let place { return append(UInt16(truncatingIfNeeded: 0xC000 | place)) }
            if place == nil, bytes.count <= Self.furthestPointer { places[rest] = bytes.count }
            bytes.append(contentsOf: rest.wire[...Int(length)])
            guard let parent = rest.parent else { break }
            rest = parent
        }
        bytes.append(0)
    }

    /// Writes a field with its length in two bytes before it.
    private mutating func appendCounted(_ write: (inout MessageWriter) throws(MessageError) -> Void)
        throws(MessageError)
    {
        let place = bytes.count
        append(UInt16(0))
        try write(&self)
        guard let length = UInt16(exactly: bytes.count - place - 2) else { throw .oversizedField }
        put(length, at: place)
    }

    private mutating func append(_ word: UInt16) {
        bytes.append(UInt8(truncatingIfNeeded: word >> 8))
        bytes.append(UInt8(truncatingIfNeeded: word))
    }

    private mutating func append(_ word: UInt32) {
        append(UInt16(truncatingIfNeeded: word >> 16))
        append(UInt16(truncatingIfNeeded: word))
    }

    private mutating func put(_ word: UInt16, at place: Int) {
        bytes[place] = UInt8(truncatingIfNeeded: word >> 8)
        bytes[place + 1] = UInt8(truncatingIfNeeded: word)
    }
}

extension RecordData {
    /// The data on the wire with whole names. Empty where a part is too long for its field.
    package var uncompressed: [UInt8] {
        var writer = MessageWriter(limit: Message.maximumLength, compression: .unicast)
        writer.hasWholeNames = true
        let header = writer.bytes.count
        return (try? writer.append(self)) == nil ? [] : Array(writer.bytes[header...])
    }
}

extension Message {
    /// Returns the message on the wire.
    /// - Parameters:
    ///   - limit: the most bytes that it may have.
    ///   - compression: where names may be compressed.
    /// - Throws: `.tooLong` if it has more, or a part does not fit into its field.
    public func written(
        limit: Int = maximumLength, compression: MessageWriter.Compression
    ) throws(MessageError) -> [UInt8] {
        var writer = MessageWriter(id: id, flags: flags, limit: limit, compression: compression)
        var fits = questions.allSatisfy { writer.add($0) }
        for (records, section) in [
            (answers, MessageWriter.Section.answer), (authorities, .authority), (additionals, .additional),
        ] {
            fits = fits && records.allSatisfy { writer.add($0, to: section) }
        }
        if let edns { fits = fits && writer.add(edns) }
        guard fits else { throw .tooLong }
        return writer.bytes
    }
}
