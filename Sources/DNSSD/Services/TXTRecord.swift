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
