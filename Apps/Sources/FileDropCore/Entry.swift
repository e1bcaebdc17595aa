/// An offered file or folder.
public struct Entry: Hashable, Sendable {
    /// The kind of an entry.
    public enum Kind: UInt8, Hashable, Sendable {
        case file = 0
        case folder = 1
    }

    /// Where it goes, below the target folder.
    public var path: RelativePath
    /// File or folder.
    public var kind: Kind
    /// Size in bytes; 0 for a folder.
    public var size: Int64
    /// Time of last modification, in seconds since 1970.
    public var modified: Int64
    /// Whether it is executable.
    public var isExecutable: Bool
    /// Where it came from, in a form that only the sender understands.
    public var origin: Origin

    /// The maximum size of a file: 1 EiB.
    public static let maximumSize: Int64 = 1 << 60

    /// Creates an entry.
    public init(
        path: RelativePath, kind: Kind, size: Int64, modified: Int64, isExecutable: Bool, origin: Origin = Origin()
    ) {
        self.path = path
        self.kind = kind
        self.size = size
        self.modified = modified
        self.isExecutable = isExecutable
        self.origin = origin
    }

    private static let fixedLength = 18 + Origin.length

    /// The encoded form.
    public var bytes: [UInt8] {
        [kind.rawValue, isExecutable ? 1 : 0] + size.bigEndianBytes + modified.bigEndianBytes + origin.bytes
            + path.bytes
    }

    /// A decoded entry, or the path that was refused.
    enum Read {
        case entry(Entry)
        case refused(path: [UInt8], RelativePath.Problem)
    }

    /// Decodes an entry; nil if it breaks a rule that no honest sender breaks.
    static func read(_ bytes: [UInt8]) -> Read? {
        guard bytes.count > fixedLength, let kind = Kind(rawValue: bytes[0]), bytes[1] <= 1,
            let size = Int64(bigEndianBytes: bytes[2..<10]), let modified = Int64(bigEndianBytes: bytes[10..<18]),
            let origin = Origin(bytes[18..<fixedLength]), (0...maximumSize).contains(size), kind == .file || size == 0
        else { return nil }
        do throws(RelativePath.Problem) {
            let path = try RelativePath(checking: bytes[fixedLength...])
            return .entry(
                Entry(
                    path: path, kind: kind, size: size, modified: modified, isExecutable: bytes[1] == 1,
                    origin: origin))
        } catch {
            return .refused(path: Array(bytes[fixedLength...]), error)
        }
    }
}

extension Int64 {
    /// The eight bytes, most significant first.
    var bigEndianBytes: [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: self >> (56 - 8 * $0)) } }

    /// Nil unless there are exactly eight bytes.
    init?(bigEndianBytes bytes: some Collection<UInt8>) {
        guard bytes.count == 8 else { return nil }
        self = bytes.reduce(0) { $0 << 8 | Int64($1) }
    }
}
