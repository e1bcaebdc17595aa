/// A service's description of itself: an ordered list of keys, each with bytes or without a value (RFC 6763 §6).
///
/// `entries` holds every value byte for byte; `text(for:)` and the subscript are views of it.
public struct TXTRecord: Hashable, Sendable {
    /// One key and its value. A key without `=` and one with an empty value mean different things (RFC 6763 §6.4).
    public struct Entry: Hashable, Sendable {
        /// The key: printable ASCII without `=`, in the case in which it was published.
        public let key: String
        /// The bytes after the first `=`; nil if there is no `=`.
        public let value: [UInt8]?

        init(uncheckedKey key: String, value: [UInt8]?) {
            self.key = key
            self.value = value
        }
    }

    /// The entries in the order of the record. Keys are unique without regard to ASCII case.
    public internal(set) var entries: [Entry]
    /// Whether strings of a record from the network were left out because it exceeds a limit.
    public package(set) var isTruncated: Bool

    /// Creates an empty record.
    public init() {
        entries = []
        isTruncated = false
    }

}

extension TXTRecord {
    /// Whether the record has no entries.
    public var isEmpty: Bool { entries.isEmpty }

    /// Returns the entry of a key, found without regard to ASCII case (RFC 6763 §6.4); nil if there is none.
    public func entry(for key: String) -> Entry? {
        entries.first { $0.key.isSameDNSLabel(as: key) }
    }

    /// Returns whether the record has a key, with or without a value.
    public func contains(_ key: String) -> Bool { entry(for: key) != nil }

    /// Returns the value of a key; nil if the key is missing or has no `=`.
    public func bytes(for key: String) -> [UInt8]? { entry(for: key)?.value }

    /// Returns the value of a key as text; nil if the key is missing, has no `=`, or its value is not UTF-8.
    public func text(for key: String) -> String? { entry(for: key)?.text }
}

extension TXTRecord.Entry {
    /// The value as text; nil if there is no `=` or the value is not UTF-8.
    public var text: String? {
        guard let value else { return nil }
        return String(validating: value, as: UTF8.self)
    }
}

extension TXTRecord {
    /// Adds an entry that a person wrote: `KEY=VALUE`, `KEY=` for an empty value, or `KEY` for a key without `=`.
    /// - Throws: `.invalidTXTRecord` as `append(key:value:)` does.
    public mutating func append(argument: String) throws(DiscoveryError) {
        let (key, value) = Self.split(argument)
        try append(key: key, text: value)
    }

    /// Adds an entry that a person wrote as `KEY=BASE64` (RFC 4648 §4, with padding).
    /// - Throws: `.invalidTXTRecord` if the value is not base64, and as `append(key:value:)` does.
    public mutating func append(base64Argument argument: String) throws(DiscoveryError) {
        let (key, text) = Self.split(argument)
        guard let text else {
            throw DiscoveryError(.invalidTXTRecord, argument, BrokenRule("write KEY=BASE64"))
        }
        guard let value = Base64.decode(text) else {
            throw DiscoveryError(
                .invalidTXTRecord, text, BrokenRule("the value is not base64 with padding (RFC 4648 §4)"))
        }
        try append(key: key, value: value)
    }

    /// Splits at the first `=`, by scalars: a combining mark after it belongs to the value.
    private static func split(_ argument: String) -> (key: String, value: String?) {
        let scalars = argument.unicodeScalars
        guard let sign = scalars.firstIndex(of: "=") else { return (argument, nil) }
        return (String(scalars[..<sign]), String(scalars[scalars.index(after: sign)...]))
    }
}

extension TXTRecord: CustomStringConvertible {
    /// The strings as quoted text, such as `"path=/x" "flag"`; safe for a terminal.
    public var description: String { readable.escapedForTerminal }

    /// The strings as quoted text: `"path=/x" "flag"`; a quote, a backslash and bytes that are not UTF-8 are escaped, other characters are not.
    public var readable: String { entries.map(\.readable).joined(separator: " ") }
}

extension TXTRecord.Entry: CustomStringConvertible {
    /// The string as quoted text, such as `"path=/x"`; safe for a terminal.
    public var description: String { readable.escapedForTerminal }

    /// The string as quoted text, as `TXTRecord.readable` has it.
    public var readable: String {
        guard let value else { return "\"\(Self.quote(key))\"" }
        return "\"\(Self.quote(key))=\(text.map(Self.quote) ?? Self.quoteBytes(value))\""
    }

    private static func quote(_ text: String) -> String {
        var quoted = ""
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { quoted.unicodeScalars.append("\\") }
            quoted.unicodeScalars.append(scalar)
        }
        return quoted
    }

    private static func quoteBytes(_ bytes: [UInt8]) -> String {
        bytes.map { byte in
            let digits = String(byte, radix: 16, uppercase: true)
            return byte >= 0x20 && byte < 0x7F && byte != 0x22 && byte != 0x5C
                ? String(Unicode.Scalar(byte)) : "\\x" + (byte < 16 ? "0" : "") + digits
        }.joined()
    }
}

extension TXTRecord: ExpressibleByDictionaryLiteral {
    /// Creates a record to publish, in the order given: `["path": "/x", "flag": nil]`; nil stands for a key without `=`.
    ///
    /// This never fails, for the values may come from anywhere: a record that breaks a rule is kept as it is, `check()` throws for it, and it is
    /// not published (the publication has failed with that error).
    public init(dictionaryLiteral elements: (String, String?)...) {
        self.init()
        for (key, text) in elements { entries.append(Entry(uncheckedKey: key, value: text.map { Array($0.utf8) })) }
    }
}

extension TXTRecord {
    /// The value of a key as text, found without regard to ASCII case; nil if the key is missing, has no `=`, or its value is not UTF-8.
    ///
    /// Setting a text replaces the value, or adds the key at the end; setting nil removes the key. A record that then breaks a rule is
    /// treated as one made by a literal: `check()` throws for it, and it is not published. `append(key:value:)` throws at once.
    public subscript(key: String) -> String? {
        get { text(for: key) }
        set {
            let index = entries.firstIndex { $0.key.isSameDNSLabel(as: key) }
            guard let newValue else {
                if let index { entries.remove(at: index) }
                return
            }
            let entry = Entry(uncheckedKey: index.map { entries[$0].key } ?? key, value: Array(newValue.utf8))
            if let index { entries[index] = entry } else { entries.append(entry) }
        }
    }

    /// Checks a record that a literal or the subscript made; one that `append(key:value:)` made or the network sent keeps the rules.
    /// - Throws: `.invalidTXTRecord` for the first entry that `append(key:value:)` would refuse.
    public func check() throws(DiscoveryError) {
        var checked = TXTRecord()
        for entry in entries { try checked.append(key: entry.key, value: entry.value) }
    }
}

extension TXTRecord {
    /// Creates a record from any strings of the network, read by the rules of RFC 6763 §6.4.
    ///
    /// Leaves out empty strings, strings without a key, keys that are not printable ASCII, and repeated keys. Stops,
    /// and sets `isTruncated`, after 8900 bytes or 256 entries, or at a string longer than 255 bytes.
    public init(strings: some Sequence<[UInt8]>) {
        self.init()
        var keys: Set<[UInt8]> = []
        var size = 0
        for string in strings {
            size += string.count + 1
            guard size <= Self.maximumWireSize, string.count <= Self.maximumStringLength else {
                isTruncated = true
                return
            }
            let keyBytes = string.prefix { $0 != UInt8(ascii: "=") }
            guard !keyBytes.isEmpty, keyBytes.allSatisfy({ 0x20...0x7E ~= $0 }),
                !keys.contains(keyBytes.map(\.asciiLowercased))
            else { continue }
            guard entries.count < Self.maximumEntryCount else {
                isTruncated = true
                return
            }
            keys.insert(keyBytes.map(\.asciiLowercased))
            let value = keyBytes.count == string.count ? nil : Array(string.dropFirst(keyBytes.count + 1))
            entries.append(Entry(uncheckedKey: String(decoding: keyBytes, as: UTF8.self), value: value))
        }
    }

    /// The strings for the wire, in order. An empty record has none, and is sent as one empty string (RFC 6763 §6.1).
    public var strings: [[UInt8]] {
        entries.map { entry in
            guard let value = entry.value else { return Array(entry.key.utf8) }
            return Array(entry.key.utf8) + [UInt8(ascii: "=")] + value
        }
    }

    /// The size in bytes on the wire, including length bytes; 1 for an empty record (RFC 6763 §6.1).
    public var wireSize: Int { max(1, stringsSize) }

    var stringsSize: Int { entries.reduce(0) { $0 + $1.length + 1 } }
}

extension TXTRecord.Entry {
    /// The length of the string in bytes, without its length byte.
    var length: Int { key.utf8.count + (value.map { $0.count + 1 } ?? 0) }
}

extension TXTRecord {
    /// The longest string in bytes, including key and `=` (RFC 6763 §6.1).
    public static let maximumStringLength = 255
    /// The largest record that is published or kept, in bytes on the wire: it fits into a packet of 9000 bytes
    /// (RFC 6762 §17).
    public static let maximumWireSize = 8900
    /// The most entries that are published or kept.
    public static let maximumEntryCount = 256
    /// The size in bytes on the wire that fits into one Ethernet packet (RFC 6763 §6.2).
    public static let recommendedWireSize = 1300

    /// Creates a record to publish, in the order given; nil stands for a key without `=`.
    /// - Throws: `.invalidTXTRecord` as `append(key:value:)` does.
    public init(_ pairs: KeyValuePairs<String, String?>) throws(DiscoveryError) {
        self.init()
        for (key, value) in pairs { try append(key: key, text: value) }
    }

    /// Adds a key to a record to publish; nil stands for a key without `=`.
    /// - Throws: `.invalidTXTRecord` if the key is empty, is not printable ASCII, contains `=` or exists already (RFC
    ///   6763 §6.4), or if the string would exceed 255 bytes, or the record 8900 bytes or 256 entries.
    public mutating func append(key: String, value: [UInt8]?) throws(DiscoveryError) {
        do throws(BrokenRule) {
            try Self.checkKey(key)
            guard !contains(key) else { throw BrokenRule("the key is there already (RFC 6763 §6.4)") }
            let entry = Entry(uncheckedKey: key, value: value)
            guard entry.length <= Self.maximumStringLength else {
                throw BrokenRule(
                    "the string has \(entry.length) bytes, "
                        + "at most \(Self.maximumStringLength) are allowed (RFC 6763 §6.1)")
            }
            guard entries.count < Self.maximumEntryCount else {
                throw BrokenRule("the record has \(Self.maximumEntryCount) keys already, and may not have more")
            }
            guard stringsSize + entry.length + 1 <= Self.maximumWireSize else {
                throw BrokenRule("the record would be larger than \(Self.maximumWireSize) bytes (RFC 6763 §6.2)")
            }
            entries.append(entry)
        } catch {
            throw DiscoveryError(.invalidTXTRecord, key, error)
        }
    }

    /// Adds a key with text to a record to publish; nil stands for a key without `=`.
    /// - Throws: `.invalidTXTRecord` as `append(key:value:)` does.
    public mutating func append(key: String, text: String?) throws(DiscoveryError) {
        try append(key: key, value: text.map { Array($0.utf8) })
    }

    /// Sentences about what is allowed but unwise; safe for a terminal.
    public var warnings: [String] {
        guard wireSize > Self.recommendedWireSize else { return [] }
        return [
            "the TXT record has \(wireSize) bytes; "
                + "over \(Self.recommendedWireSize) it may not reach everyone (RFC 6763 §6.2)"
        ]
    }

    private static func checkKey(_ key: String) throws(BrokenRule) {
        guard !key.isEmpty else { throw BrokenRule("a TXT key has at least one character (RFC 6763 §6.4)") }
        if let wrong = key.unicodeScalars.first(where: { !(0x20...0x7E ~= $0.value) || $0 == "=" }) {
            throw BrokenRule(
                "\(String(wrong).quotedForMessage) is not allowed in a TXT key, "
                    + "only printable ASCII without = (RFC 6763 §6.4)")
        }
    }
}
