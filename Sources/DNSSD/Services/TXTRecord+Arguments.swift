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
                .invalidTXTRecord,
                text,
                BrokenRule("the value is not base64 with padding (RFC 4648 §4)")
            )
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
