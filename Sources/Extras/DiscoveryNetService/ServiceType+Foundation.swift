import DNSSD

extension ServiceType {
    /// Parses a type as Foundation writes it, with or without a final dot, and with subtypes after commas:
    /// `_http._tcp.,_printer`.
    static func withSubtypes(_ text: String) throws(DiscoveryError) -> (type: ServiceType, subtypes: [String]) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        let type = try ServiceType(parts.first ?? "")
        var subtypes = type.subtype.map { [$0] } ?? []
        for part in parts.dropFirst() { subtypes.append(try validatedSubtype(part)) }
        return (type.base, subtypes)
    }

    /// Parses a type to browse for, with at most one subtype.
    static func toBrowse(_ text: String) throws(DiscoveryError) -> ServiceType {
        let (type, subtypes) = try withSubtypes(text)
        guard let subtype = subtypes.first else { return type }
        guard subtypes.count == 1 else {
            throw DiscoveryError(.invalidServiceType, "\(text.escapedForTerminal): one subtype is looked for at a time")
        }
        return try type.withSubtype(subtype)
    }
}
