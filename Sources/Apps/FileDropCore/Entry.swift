/// One file or folder that is offered.
public struct Entry: Hashable, Sendable {
    /// What it is.
    public enum Kind: UInt8, Hashable, Sendable {
        case file = 0
        case folder = 1
    }

    /// Where it goes.
    public var path: RelativePath
    /// What it is.
    public var kind: Kind
    /// Bytes; 0 for a folder.
    public var size: Int64
    /// When it was changed, in seconds since 1970.
    public var modified: Int64
    /// Whether it is a program.
    public var isExecutable: Bool

    /// The largest file: 1 EiB.
    public static let maximumSize: Int64 = 1 << 60

    /// Creates an entry.
    public init(path: RelativePath, kind: Kind, size: Int64, modified: Int64, isExecutable: Bool) {
        self.path = path
        self.kind = kind
        self.size = size
        self.modified = modified
        self.isExecutable = isExecutable
    }

    /// What tells this entry from every other that has the same name: a part of it can be gone on with.
    var identity: [UInt8] { bytes }

    /// As it is sent.
    public var bytes: [UInt8] {
        [kind.rawValue, isExecutable ? 1 : 0] + size.bigEndianBytes + modified.bigEndianBytes + path.bytes
    }

    /// Reads what was sent; nil when a rule is broken.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count > 18, let kind = Kind(rawValue: bytes[0]), bytes[1] <= 1,
            let size = Int64(bigEndianBytes: bytes[2..<10]), let modified = Int64(bigEndianBytes: bytes[10..<18]),
            let path = RelativePath(bytes[18...]), (0...Self.maximumSize).contains(size), kind == .file || size == 0
        else { return nil }
        self.init(path: path, kind: kind, size: size, modified: modified, isExecutable: bytes[1] == 1)
    }
}

extension Int64 {
    /// Eight bytes, the highest first.
    var bigEndianBytes: [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: self >> (56 - 8 * $0)) } }

    /// Nil unless there are eight.
    init?(bigEndianBytes bytes: some Collection<UInt8>) {
        guard bytes.count == 8 else { return nil }
        self = bytes.reduce(0) { $0 << 8 | Int64($1) }
    }
}
