import DNSSD

extension ServiceType {
    /// Reads a type as Foundation writes it, with a final dot or without, and with subtypes after commas:
    /// `_http._tcp.,_printer`.
    static func withSubtypes(_ text: String) throws(DiscoveryError) -> (type: ServiceType, subtypes: [String]) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        let type = try ServiceType(parts.first ?? "")
        var subtypes = type.subtype.map { [$0] } ?? []
        for part in parts.dropFirst() { subtypes.append(try validatedSubtype(part)) }
        return (type.base, subtypes)
    }

    /// A type to look for: with one subtype at most.
    static func toBrowse(_ text: String) throws(DiscoveryError) -> ServiceType {
        let (type, subtypes) = try withSubtypes(text)
        guard let subtype = subtypes.first else { return type }
        guard subtypes.count == 1 else {
            throw DiscoveryError(.invalidServiceType, "\(text.escapedForTerminal): one subtype is looked for at a time")
        }
        return try type.withSubtype(subtype)
    }
}
