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
