extension ServiceType {
    /// A subtype label to publish: `printer` and `_printer` both give `_printer`. The label is taken as it is, not
    /// unescaped.
    /// - Throws: `.invalidServiceType` unless it has 1 to 63 bytes with its underscore and no control characters (RFC
    ///   6763 §7.1).
    public static func validatedSubtype(_ label: String) throws(DiscoveryError) -> String {
        do throws(BrokenRule) {
            guard label != "", label != "_" else { throw BrokenRule("the subtype is empty (RFC 6763 §7.1)") }
            let result = label.hasPrefix("_") ? label : "_" + label
            guard result.utf8.count <= DNSName.maximumLabelLength else {
                throw BrokenRule(
                    "the subtype has \(result.utf8.count) bytes, at most \(DNSName.maximumLabelLength) are allowed"
                )
            }
            guard !result.contains("._sub.") else {
                throw BrokenRule("the subtype is the label before ._sub. alone (RFC 6763 §7.1)")
            }
            try result.checkPublishable()
            return result
        } catch {
            throw DiscoveryError(.invalidServiceType, label, error)
        }
    }

    /// The type narrowed to a subtype: `_printer._sub._http._tcp`.
    /// - Throws: `.invalidServiceType` as `validatedSubtype(_:)` does.
    public func withSubtype(_ label: String) throws(DiscoveryError) -> ServiceType {
        ServiceType(name: name, transport: transport, subtype: try Self.validatedSubtype(label))
    }
}
