import DNSSD

/// The messages of the framed mode, within TLS (docs/apps/filedrop.md). Sender and receiver take turns for each entry.
public enum Message: Hashable, Sendable {
    /// Both, first: whether the other's key is known here. If not, a person is asked.
    case acquainted(Bool)
    /// Both, unless both are acquainted: a step of `PairingExchange`.
    case pairing([UInt8])
    /// Sender: how many entries and bytes will come; only for a progress bar.
    case total(entries: Int64, bytes: Int64)
    /// Sender: the next file or folder.
    case entry(Entry)
    /// An entry whose path was refused.
    case refusedEntry(path: [UInt8], RelativePath.Problem)
    /// Receiver, instead of accepting an entry: the reason why it is left out.
    case leftOut(String)
    /// Receiver, for a file: how many of its bytes may be here from an earlier transfer of this sender.
    case have(offset: Int64)
    /// Sender, unless that was 0: the SHA-256 of that many bytes of its file.
    case begins(digest: [UInt8])
    /// Receiver: whether the bytes here are the same. If so, data continues after them, otherwise it starts from the beginning.
    case isSame(Bool)
    /// Sender: bytes of the file.
    case data([UInt8])
    /// Sender: the SHA-256 of the whole file.
    case digest([UInt8])
    /// Receiver: the entry is complete and stored.
    case complete
    /// Sender: there is no more. Receiver: everything has arrived.
    case end
    /// Either side: it cannot continue, with the reason for people.
    case failure(Failure, String)

    /// Why a side cannot continue.
    public enum Failure: UInt8, Hashable, Sendable {
        case other = 0
        case noSpace = 1
        case badData = 2
        case notPermitted = 3
    }

    /// The maximum data in one message.
    public static let maximumData = 256 * 1024
    /// The maximum body of any other message.
    static let maximumOther = 8 * 1024
    /// What each side sends first.
    public static let greeting = Array("filedrop/3\n".utf8)

    /// The length of a message's header: its kind and the body's length.
    public static let headerLength = 5
    static let digestLength = 32
    /// The longest step of a pairing.
    static let maximumPairing = 64

    var kind: UInt8 {
        switch self {
        case .acquainted: 0x4B
        case .pairing: 0x50
        case .total: 0x54
        case .entry, .refusedEntry: 0x45
        case .leftOut: 0x4C
        case .have: 0x48
        case .begins: 0x42
        case .isSame: 0x41
        case .data: Self.dataKind
        case .digest: 0x53
        case .complete: 0x43
        case .end: 0x5A
        case .failure: 0x58
        }
    }

    private static let dataKind: UInt8 = 0x44

    /// The encoded message.
    public var bytes: [UInt8] {
        let body = body
        return Self.header(kind, body.count) + body
    }

    /// The header of a data message, to be followed by the data.
    public static func dataHeader(_ count: Int) -> [UInt8] { header(dataKind, count) }

    private static func header(_ kind: UInt8, _ count: Int) -> [UInt8] {
        [kind] + (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * $0)) }
    }

    private var body: [UInt8] {
        switch self {
        case .total(let entries, let bytes): entries.bigEndianBytes + bytes.bigEndianBytes
        case .entry(let entry): entry.bytes
        // Never sent.
        case .refusedEntry: []
        case .have(let offset): offset.bigEndianBytes
        case .isSame(let isIt), .acquainted(let isIt): [isIt ? 1 : 0]
        case .data(let bytes), .digest(let bytes), .begins(let bytes), .pairing(let bytes): bytes
        case .complete, .end: []
        case .leftOut(let text): Array(text.utf8.prefix(1000))
        case .failure(let failure, let text): [failure.rawValue] + Array(text.utf8.prefix(1000))
        }
    }
}

extension Message {
    /// The body length that a header announces; nil if it is too long or the kind is unknown.
    public static func bodyLength(_ header: [UInt8]) -> Int? {
        guard header.count == headerLength else { return nil }
        let length = header[1...].reduce(0) { $0 << 8 | Int($1) }
        return length <= (header[0] == dataKind ? maximumData : maximumOther) ? length : nil
    }

    /// Decodes a message; nil if it breaks a rule.
    public init?(header: [UInt8], body: [UInt8]) {
        switch header.first {
        case 0x4B where body == [0] || body == [1]: self = .acquainted(body == [1])
        case 0x50 where (1...Self.maximumPairing).contains(body.count): self = .pairing(body)
        case 0x54:
            guard body.count == 16, let entries = Int64(bigEndianBytes: body[..<8]),
                let bytes = Int64(bigEndianBytes: body[8...]), entries >= 0, bytes >= 0
            else { return nil }
            self = .total(entries: entries, bytes: bytes)
        case 0x45:
            switch Entry.read(body) {
            case .entry(let entry): self = .entry(entry)
            case .refused(let path, let problem): self = .refusedEntry(path: path, problem)
            case nil: return nil
            }
        case 0x4C: self = .leftOut(Self.text(body))
        case 0x48:
            guard let offset = Int64(bigEndianBytes: body), offset >= 0 else { return nil }
            self = .have(offset: offset)
        case 0x42 where body.count == Self.digestLength: self = .begins(digest: body)
        case 0x41 where body == [0] || body == [1]: self = .isSame(body == [1])
        case Self.dataKind: self = .data(body)
        case 0x53 where body.count == Self.digestLength: self = .digest(body)
        case 0x43 where body.isEmpty: self = .complete
        case 0x5A where body.isEmpty: self = .end
        case 0x58:
            let failure = body.first.flatMap(Failure.init(rawValue:)) ?? .other
            self = .failure(failure, Self.text(body.dropFirst()))
        default: return nil
        }
    }

    /// The other side's words: of one line, with U+FFFD for characters that could pass for anything else.
    private static func text(_ bytes: some Sequence<UInt8>) -> String {
        var text = String.UnicodeScalarView()
        for scalar in String(decoding: Array(bytes.prefix(1000)), as: UTF8.self).unicodeScalars {
            text.append(String(scalar).needsTerminalEscaping ? "\u{FFFD}" : scalar)
        }
        return String(text)
    }
}
