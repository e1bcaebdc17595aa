/// A path below a folder. The only place where paths from other machines are checked.
public struct RelativePath: Hashable, Sendable {
    /// The maximum length of a name in bytes (NAME_MAX).
    public static let maximumName = 255
    /// The maximum length of a path in bytes.
    public static let maximumLength = 4000
    /// The maximum number of names in a path.
    public static let maximumDepth = 64

    /// Why a path is refused.
    public enum Problem: String, Error, Hashable, Sendable {
        /// Absolute, or with an empty name, `.`, `..` or a NUL.
        case outside = "is not a path below a folder"
        /// A name over 255 bytes, over 4000 bytes in total, or more than 64 names.
        case tooLong = "has too long a path"
        /// Programs read files with such names on their own: `.bashrc`, `.git/hooks`.
        case hidden = "has a name that begins with a dot"
        /// `rm *` would take such a name for an option.
        case option = "has a name that begins with a dash"
        /// Not UTF-8, or with characters that reorder a terminal's lines or end a script's.
        case unsafe = "has a name with characters that are no text"
    }

    /// The names from the top; at least one.
    public let names: [[UInt8]]

    /// Accepts only harmless names: below the folder, not hidden, not an option, text without control characters.
    public init(checking bytes: some Sequence<UInt8>) throws(Problem) {
        let bytes = Array(bytes)
        let names = bytes.split(separator: 0x2F, omittingEmptySubsequences: false).map { Array($0) }
        guard !bytes.contains(0), names.allSatisfy({ !$0.isEmpty && $0 != [0x2E] && $0 != [0x2E, 0x2E] }) else {
            throw .outside
        }
        guard bytes.count <= Self.maximumLength, names.count <= Self.maximumDepth,
            names.allSatisfy({ $0.count <= Self.maximumName })
        else { throw .tooLong }
        if names.contains(where: { $0.first == 0x2E }) { throw .hidden }
        if names.contains(where: { $0.first == 0x2D }) { throw .option }
        guard names.allSatisfy(Self.isText) else { throw .unsafe }
        self.names = names
    }

    /// Nil if `init(checking:)` throws.
    public init?(_ bytes: some Sequence<UInt8>) {
        guard let path = try? RelativePath(checking: bytes) else { return nil }
        self = path
    }

    init(names: [[UInt8]]) { self.names = names }

    /// Makes a single name from any text: forbidden characters become `_`.
    public init(cleaning text: String) {
        let name = text.unicodeScalars.map { $0 == "/" || !Self.isText($0) ? "_" : String($0) }.joined()
        var bytes = Array(name.utf8)
        while let last = bytes.last, bytes.count > Self.maximumName - 8 {
            bytes.removeLast(last & 0xC0 == 0x80 ? bytes.count - (bytes.lastIndex { $0 & 0xC0 != 0x80 } ?? 0) : 1)
        }
        while bytes.first == 0x2E || bytes.first == 0x2D { bytes.removeFirst() }
        names = [bytes.isEmpty ? Array("download".utf8) : bytes]
    }

    private static func isText(_ name: [UInt8]) -> Bool {
        guard let text = String(validating: name, as: UTF8.self) else { return false }
        return text.unicodeScalars.allSatisfy(isText)
    }

    /// Keeps the invisible characters that join letters and emoji, because ordinary names contain them.
    private static func isText(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate: false
        case .format: scalar.value == 0x200C || scalar.value == 0x200D
        default: !scalar.properties.isNoncharacterCodePoint && !(0xE0000...0xE0FFF).contains(scalar.value)
        }
    }

    /// The names, joined by `/`.
    public var bytes: [UInt8] { Array(names.joined(separator: [0x2F])) }

    /// For people; must be escaped before printing.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The last name.
    public var name: [UInt8] { names[names.count - 1] }

    /// The `number`th variant of a name: `photo.jpg`, `photo (2).jpg`, `photo (3).jpg`.
    static func variant(_ number: Int, of name: [UInt8]) -> [UInt8] {
        guard number > 1 else { return name }
        let mark = Array(" (\(number))".utf8)
        let dot = name.lastIndex(of: 0x2E).flatMap { $0 > 0 && name.count - $0 <= 16 ? $0 : nil } ?? name.count
        var stem = name[..<dot].prefix(Self.maximumName - mark.count - (name.count - dot))
        // Do not cut within a character.
        while stem.count < dot, let last = stem.last, name[stem.count] & 0xC0 == 0x80, last >= 0x80 {
            stem.removeLast()
        }
        return Array(stem) + mark + name[dot...]
    }
}
