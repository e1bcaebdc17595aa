/// What a service says about itself: an ordered list of keys, each with bytes or without a value (RFC 6763 §6).
///
/// Bytes stay bytes: `entries` has every value as it was on the wire, `text(for:)` is a view.
public struct TXTRecord: Hashable, Sendable {
    /// One key. `value` is nil for a key without `=`, and empty for `key=`: they mean different things (RFC 6763 §6.4).
    public struct Entry: Hashable, Sendable {
        /// Printable ASCII without `=`, in the case it was published with.
        public let key: String
        /// The bytes after the first `=`, or nil when there was none.
        public let value: [UInt8]?

        init(uncheckedKey key: String, value: [UInt8]?) {
            self.key = key
            self.value = value
        }
    }

    /// The entries in the order of the record; of keys that are equal without regard to case only the first.
    public internal(set) var entries: [Entry]
    /// Strings of a record from the network were left out: over 8900 bytes or 256 entries.
    public internal(set) var isTruncated: Bool

    /// A record without entries.
    public init() {
        entries = []
        isTruncated = false
    }

}

extension TXTRecord {
    /// Whether there is nothing in it.
    public var isEmpty: Bool { entries.isEmpty }

    /// The entry of a key, found without regard to ASCII case (RFC 6763 §6.4).
    public func entry(for key: String) -> Entry? {
        entries.first { $0.key.isSameDNSLabel(as: key) }
    }

    /// Whether a key is there, with or without a value.
    public func contains(_ key: String) -> Bool { entry(for: key) != nil }

    /// The value of a key; nil when the key is missing or has no `=`.
    public func bytes(for key: String) -> [UInt8]? { entry(for: key)?.value }

    /// The value of a key as text; nil when the key is missing, has no `=`, or its value is not UTF-8.
    public func text(for key: String) -> String? { entry(for: key)?.text }
}

extension TXTRecord.Entry {
    /// The value as text; nil when there is no `=`, or when the value is not UTF-8.
    public var text: String? {
        guard let value else { return nil }
        return String(validating: value, as: UTF8.self)
    }
}
