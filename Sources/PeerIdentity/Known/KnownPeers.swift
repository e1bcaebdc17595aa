/// The keys that are known, and whose they are: the text of a file like ssh's `known_hosts`. A value.
///
/// A line is a name, a space, and a key's fingerprint; what follows is a comment, as is a line that begins with `#`. Lines that make no
/// sense stay as they are.
public struct KnownPeers: Hashable, Sendable {
    /// A name and its key.
    public struct Peer: Hashable, Sendable {
        /// Whose it is.
        public var name: PeerName
        /// The key.
        public var key: KeyFingerprint

        /// Creates an entry.
        public init(_ name: PeerName, _ key: KeyFingerprint) {
            self.name = name
            self.key = key
        }
    }

    /// The most bytes of a file.
    public static let longest = 4 << 20

    private struct Line: Hashable, Sendable {
        var text: [UInt8]
        var peer: Peer?
        var isComment = false
    }

    private var lines: [Line] = []

    /// Nothing is known.
    public init() {}

    /// Reads a file's content.
    public init(_ content: [UInt8]) {
        var pieces = content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        if pieces.last?.isEmpty == true { pieces.removeLast() }
        lines = pieces.map { Self.line(Array($0)) }
    }

    /// The file's content, to the byte as it was read where nothing was changed.
    public var content: [UInt8] { lines.flatMap { $0.text + [UInt8(ascii: "\n")] } }

    /// All entries in the order of the file.
    public var peers: [Peer] { lines.compactMap(\.peer) }

    /// The numbers of lines that make no sense; the first line is 1.
    public var unreadable: [Int] {
        lines.indices.filter { lines[$0].peer == nil && !lines[$0].isComment }.map { $0 + 1 }
    }

    /// The keys of a name; several where someone wrote several.
    public func keys(of name: PeerName) -> [KeyFingerprint] { peers.filter { $0.name == name }.map(\.key) }

    /// The names of a key.
    public func names(of key: KeyFingerprint) -> [PeerName] { peers.filter { $0.key == key }.map(\.name) }

    /// Adds an entry; one that is there, or whose name cannot be written, is not added.
    public mutating func add(_ peer: Peer) {
        guard !peers.contains(peer), PeerName(peer.name.description) == peer.name else { return }
        lines.append(Line(text: Array("\(peer.name) \(peer.key)".utf8), peer: peer))
    }

    /// Removes the entries of a name.
    /// - Returns: how many there were.
    public mutating func forget(_ name: PeerName) -> Int {
        let before = lines.count
        lines.removeAll { $0.peer?.name == name }
        return before - lines.count
    }

    private static func line(_ bytes: [UInt8]) -> Line {
        let isSpace = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == 0x0D }
        guard let text = String(validating: bytes, as: UTF8.self) else { return Line(text: bytes) }
        let words = text.utf8.split(maxSplits: 2, whereSeparator: isSpace).compactMap { String($0) }
        guard let first = words.first, first.utf8.first != UInt8(ascii: "#") else {
            return Line(text: bytes, isComment: true)
        }
        guard words.count >= 2, let name = PeerName(first), let key = KeyFingerprint(words[1]) else {
            return Line(text: bytes)
        }
        return Line(text: bytes, peer: Peer(name, key))
    }
}
