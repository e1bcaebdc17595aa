/// Where a file goes below a folder: what another machine says is checked here, once.
///
/// Bytes, as Linux has them: names need not be UTF-8.
public struct RelativePath: Hashable, Sendable {
    /// The longest name in bytes (NAME_MAX).
    public static let maximumName = 255
    /// The longest path in bytes.
    public static let maximumLength = 4000
    /// The deepest path in names.
    public static let maximumDepth = 64

    /// The names from the top, at least one.
    public let names: [[UInt8]]

    /// A path that stays below the folder: not absolute, no empty name, no `.` and `..`, no NUL. Its first name does not begin
    /// with a dot, so that nobody plants a `.bashrc`.
    public init?(_ bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        guard (1...Self.maximumLength).contains(bytes.count), !bytes.contains(0) else { return nil }
        let names = bytes.split(separator: 0x2F, omittingEmptySubsequences: false).map { Array($0) }
        guard names.count <= Self.maximumDepth, names.allSatisfy(Self.isSafe), names[0][0] != 0x2E else { return nil }
        self.names = names
    }

    /// One name made of any text: what may not be in one becomes `_`.
    public init(cleaning text: String) {
        var name = Array(text.utf8).prefix(Self.maximumName - 8).map { byte -> UInt8 in
            byte == 0x2F || byte < 0x20 || byte == 0x7F ? 0x5F : byte
        }
        while name.first == 0x2E { name.removeFirst() }
        names = [name.isEmpty ? Array("download".utf8) : name]
    }

    private static func isSafe(_ name: [UInt8]) -> Bool {
        (1...maximumName).contains(name.count) && name != [0x2E] && name != [0x2E, 0x2E]
    }

    /// The names joined by `/`.
    public var bytes: [UInt8] { Array(names.joined(separator: [0x2F])) }

    /// For people; to be escaped.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The last name.
    public var name: [UInt8] { names[names.count - 1] }

    /// The `number`th way to name it: `photo.jpg`, `photo (2).jpg`, `photo (3).jpg`.
    public func name(attempt number: Int) -> [UInt8] {
        guard number > 1 else { return name }
        let mark = Array(" (\(number))".utf8)
        let dot = name.lastIndex(of: 0x2E).flatMap { $0 > 0 && name.count - $0 <= 16 ? $0 : nil } ?? name.count
        let stem = name[..<dot].prefix(Self.maximumName - mark.count - (name.count - dot))
        return Array(stem) + mark + name[dot...]
    }
}
