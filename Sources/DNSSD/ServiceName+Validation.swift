extension ServiceName {
    /// A name to publish.
    /// - Throws: `.invalidServiceName` unless it has 1 to 63 bytes of UTF-8, without control characters (RFC 6763
    ///   §4.1.1) and without non-characters, which Avahi refuses.
    public init(_ value: String) throws(DiscoveryError) {
        do throws(BrokenRule) {
            guard !value.isEmpty else { throw BrokenRule("the name is empty (RFC 6763 §4.1.1)") }
            guard value.utf8.count <= Self.maximumLength else {
                throw BrokenRule(
                    "the name has \(value.utf8.count) bytes, "
                        + "at most \(Self.maximumLength) are allowed (RFC 6763 §4.1.1)"
                )
            }
            try value.checkPublishable()
        } catch {
            throw DiscoveryError(.invalidServiceName, value, error)
        }
        self.init(observed: value)
    }
}
