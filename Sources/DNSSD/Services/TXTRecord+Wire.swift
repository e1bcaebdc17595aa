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
                        + "at most \(Self.maximumStringLength) are allowed (RFC 6763 §6.1)"
                )
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
                    + "only printable ASCII without = (RFC 6763 §6.4)"
            )
        }
    }
}
