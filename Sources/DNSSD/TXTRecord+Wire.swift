extension TXTRecord {
    /// A record from the network: any strings, read as RFC 6763 §6.4 says.
    ///
    /// Left out are empty strings, strings without a key, keys that are not printable ASCII, and all but the first of
    /// equal keys; and, with `isTruncated`, what follows the first 8900 bytes or 256 entries, or is longer than a
    /// string can be.
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

    /// The strings for the wire, in order. None for an empty record, which is sent as one empty string (RFC 6763 §6.1).
    public var strings: [[UInt8]] {
        entries.map { entry in
            guard let value = entry.value else { return Array(entry.key.utf8) }
            return Array(entry.key.utf8) + [UInt8(ascii: "=")] + value
        }
    }

    /// The size in bytes on the wire, length bytes included; 1 for an empty record (RFC 6763 §6.1).
    public var wireSize: Int { max(1, stringsSize) }

    var stringsSize: Int { entries.reduce(0) { $0 + $1.length + 1 } }
}

extension TXTRecord.Entry {
    /// Bytes of the string, without its length byte.
    var length: Int { key.utf8.count + (value.map { $0.count + 1 } ?? 0) }
}
