package import DNSSD

/// The keys that are known, and whose they are: the text of a file like ssh's `known_hosts`. A value.
///
/// A line is a name or its hash, a space, and a key's fingerprint; what follows is `paired DAY` or a comment, as is a line that begins with `#`.
/// Lines that make no sense stay as they are.
public struct KnownPeers: Sendable {
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

    /// The format that is written, and the newest that is read (docs/decisions/0059-formats-have-a-version.md).
    public static let format = 1

    private static let formatMark = "# discoverd format "

    /// The most bytes of a file.
    public static let longest = 4 << 20

    private enum Owner: Hashable, Sendable {
        case name(PeerName)
        case hash(HashedName)
    }

    private struct Line: Hashable, Sendable {
        var text: [UInt8]
        var entry: (owner: Owner, key: KeyFingerprint)? = nil
        /// The name was paired with, then.
        var pairing: Pairing? = nil
        var isComment = false

        static func == (one: Line, other: Line) -> Bool { one.text == other.text }
        func hash(into hasher: inout Hasher) { hasher.combine(text) }
    }

    private var lines: [Line] = []
    private let hmac: HashedName.HMAC?

    /// Nothing is known.
    /// - Parameter hmac: finds and writes hashed names; nil: they belong to no one.
    public init(hmac: HashedName.HMAC? = nil) { self.hmac = hmac }

    /// Reads a file's content.
    public init(_ content: [UInt8], hmac: HashedName.HMAC? = nil) {
        self.hmac = hmac
        var pieces = content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        if pieces.last?.isEmpty == true { pieces.removeLast() }
        lines = pieces.map { Self.line(Array($0)) }
    }

    /// The file's content, to the byte as it was read where nothing was changed.
    public var content: [UInt8] { lines.flatMap { $0.text + [UInt8(ascii: "\n")] } }

    /// The format of the file, which its first line says; 1 where it does not.
    public var format: Int {
        guard let text = lines.first.flatMap({ String(validating: $0.text, as: UTF8.self) }),
            text.hasPrefix(Self.formatMark)
        else { return 1 }
        // What is no number is of no version that is known.
        return Int(text.dropFirst(Self.formatMark.utf8.count).filter { $0 != "\r" && $0 != " " }) ?? .max
    }

    /// Says the format, in a file that is new.
    mutating func begin() {
        lines.insert(Line(text: Array("\(Self.formatMark)\(Self.format)".utf8), isComment: true), at: 0)
    }

    /// The entries whose names can be read, in the order of the file.
    public var peers: [Peer] {
        lines.compactMap { line in
            guard case .name(let name)? = line.entry?.owner, let key = line.entry?.key else { return nil }
            return Peer(name, key)
        }
    }

    /// All entries in the order of the file: a name or its hash, as the file has it, and the key.
    public var entries: [(name: String, key: KeyFingerprint)] {
        lines.compactMap { line in
            line.entry.map { entry in
                switch entry.owner {
                case .name(let name): (name.description, entry.key)
                case .hash(let hash): (hash.description, entry.key)
                }
            }
        }
    }

    /// How many entries there are.
    public var count: Int { lines.count { $0.entry != nil } }

    /// Some names are hashed; then names that are added are hashed, too.
    public var isHashed: Bool {
        lines.contains { if case .hash? = $0.entry?.owner { true } else { false } }
    }

    /// No name is hidden from this program.
    var canFindNames: Bool { hmac != nil || !isHashed }

    /// The numbers of lines that make no sense; the first line is 1.
    public var unreadable: [Int] {
        lines.indices.filter { lines[$0].entry == nil && !lines[$0].isComment }.map { $0 + 1 }
    }

    /// The keys of a name; several where someone wrote several.
    public func keys(of name: PeerName) -> [KeyFingerprint] {
        lines.compactMap { line in line.entry.flatMap { isOwner($0.owner, name) ? $0.key : nil } }
    }

    /// The names of a key, without those that are hashed.
    public func names(of key: KeyFingerprint) -> [PeerName] { peers.filter { $0.key == key }.map(\.name) }

    /// Whether a key is known under a label, hashed or not.
    func isCaller(_ key: KeyFingerprint) -> Bool {
        lines.contains { line in
            guard let entry = line.entry, entry.key == key else { return false }
            return switch entry.owner {
            case .name(let name): name.isLabel
            case .hash(let hash): hash.isLabel
            }
        }
    }

    /// Adds an entry; one that is there, or whose name cannot be written, is not added.
    public mutating func add(_ peer: Peer) { add(peer, nil) }

    /// - Parameter pairing: also becomes that of an entry which is there without one.
    mutating func add(_ peer: Peer, _ pairing: Pairing?) {
        guard PeerName(peer.name.description) == peer.name else { return }
        let there = lines.indices.filter { index in
            lines[index].entry.map { $0.key == peer.key && isOwner($0.owner, peer.name) } ?? false
        }
        if !there.isEmpty, pairing == nil || there.contains(where: { lines[$0].pairing != nil }) { return }
        var line = Line(
            text: Array("\(peer.name) \(peer.key)\(pairing.map { " \($0)" } ?? "")".utf8),
            entry: (.name(peer.name), peer.key), pairing: pairing)
        if isHashed, let hmac { line = Self.hashed(line, by: hmac) }
        if let first = there.first { lines[first] = line } else { lines.append(line) }
    }

    /// The pairing by which a key answers for the services of a host, hashed or not; nil where there was none.
    func voucher(for key: KeyFingerprint) -> Voucher? {
        for line in lines {
            guard let entry = line.entry, entry.key == key, let pairing = line.pairing else { continue }
            switch entry.owner {
            case .name(let name): if name.isHost { return Voucher(host: name, day: pairing.day) }
            case .hash(let hash): if !hash.isLabel { return Voucher(host: nil, day: pairing.day) }
            }
        }
        return nil
    }

    /// Removes all entries of a key, hashed or not.
    /// - Returns: how many there were.
    public mutating func forget(_ key: KeyFingerprint) -> Int {
        let others = lines.filter { $0.entry?.key != key }
        defer { lines = others }
        return lines.count - others.count
    }

    /// Removes the entries of a name.
    /// - Returns: how many there were.
    public mutating func forget(_ name: PeerName) -> Int {
        let others = lines.filter { line in line.entry.map { !isOwner($0.owner, name) } ?? true }
        defer { lines = others }
        return lines.count - others.count
    }

    /// Replaces a name's key, as the last of the file, and drops the oldest entries beyond `limit`.
    public mutating func replace(_ peer: Peer, atMost limit: Int) {
        guard keys(of: peer.name) != [peer.key] else { return }
        _ = forget(peer.name)
        add(peer)
        while count > max(limit, 1), let oldest = lines.firstIndex(where: { $0.entry != nil }) {
            lines.remove(at: oldest)
        }
    }

    /// Hashes all names that can be read; their lines' comments, which may have names, are left out. That a name was paired with stays.
    /// - Returns: how many there were.
    public mutating func hashNames() -> Int {
        guard let hmac else { return 0 }
        var count = 0
        for index in lines.indices {
            guard case .name? = lines[index].entry?.owner else { continue }
            lines[index] = Self.hashed(lines[index], by: hmac)
            count += 1
        }
        return count
    }

    private static func hashed(_ line: Line, by hmac: HashedName.HMAC) -> Line {
        guard case .name(let name)? = line.entry?.owner, let key = line.entry?.key else { return line }
        let hash = HashedName(name, by: hmac)
        return Line(
            text: Array("\(hash) \(key)\(line.pairing.map { " \($0)" } ?? "")".utf8), entry: (.hash(hash), key),
            pairing: line.pairing)
    }

    private func isOwner(_ owner: Owner, _ name: PeerName) -> Bool {
        switch owner {
        case .name(let one): one == name
        case .hash(let hash): hmac.map { hash.matches(name, by: $0) } ?? false
        }
    }

    private static func line(_ bytes: [UInt8]) -> Line {
        let isSpace = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == 0x0D }
        // A mark of the byte order would be part of the name.
        guard !bytes.starts(with: [0xEF, 0xBB, 0xBF]), let text = String(validating: bytes, as: UTF8.self) else {
            return Line(text: bytes)
        }
        let words = text.utf8.split(maxSplits: 2, whereSeparator: isSpace).compactMap { String($0) }
        guard let first = words.first, first.utf8.first != UInt8(ascii: "#") else {
            return Line(text: bytes, isComment: true)
        }
        guard words.count >= 2, let key = KeyFingerprint(words[1]) else { return Line(text: bytes) }
        let pairing = words.count > 2 ? Pairing(words[2]) : nil
        if let hash = HashedName(first) { return Line(text: bytes, entry: (.hash(hash), key), pairing: pairing) }
        let name = PeerName(first)
        return Line(text: bytes, entry: name.map { (.name($0), key) }, pairing: name?.isHost == true ? pairing : nil)
    }
}

extension KnownPeers: Hashable {
    /// Two files with the same content.
    public static func == (one: KnownPeers, other: KnownPeers) -> Bool { one.lines == other.lines }

    /// Consistent with `==`.
    public func hash(into hasher: inout Hasher) { hasher.combine(lines) }
}

/// Whether a service is spoken to without TLS, where its key is known.
package enum PlainSpeech: Hashable, Sendable {
    /// Nothing is known of it.
    case usual
    /// Its key is known, or may be, and it announces TLS: nothing is to be sent without.
    case refused(String)
    /// Its key is known, and it does not announce TLS: whoever took its name would not either. Worth a line.
    case doubtful(String)
}

extension KnownPeers {
    /// Judges a connection without TLS; texts are for people, and safe for a terminal.
    /// - Parameter record: the service's TXT record, in which `tls=1` announces TLS.
    package func plainSpeech(to instance: ServiceInstance, announcing record: TXTRecord?) -> PlainSpeech {
        let name = PeerName.service(instance)
        let speaksTLS = record?.text(for: "tls") == "1"
        if !keys(of: name).isEmpty {
            return speaksTLS
                ? .refused("\(name.text) announces TLS, and its key is known: without TLS nothing is sent to it")
                : .doubtful("the key of \(name.text) is known, but without --tls nothing says who answers")
        }
        guard speaksTLS else { return .usual }
        if !canFindNames {
            return .refused(
                "\(name.text) announces TLS, and whether its key is known cannot be said: the known names are hashed")
        }
        guard let hint = record.flatMap({ KeyHint($0) }), let voucher = voucher(for: hint.key) else { return .usual }
        let who = voucher.host.map { "\($0.text), which" } ?? "a machine that"
        return .doubtful("\(name.text) announces TLS, with the key of \(who) was paired: --tls speaks it")
    }
}
