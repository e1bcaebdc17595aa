extension OfferedService {
    /// Creates a description from text. A subtype in `type` becomes one of `subtypes`, whose underscore may be left
    /// out.
    /// - Throws: the error of the first part that breaks a rule.
    public init(
        name: String,
        type: String,
        domain: String = "local",
        port: Int,
        txt: TXTRecord = TXTRecord(),
        subtypes: [String] = []
    ) throws(DiscoveryError) {
        let type = try ServiceType(type)
        var labels: [String] = []
        for subtype in [type.subtype].compactMap({ $0 }) + subtypes {
            let label = try ServiceType.validatedSubtype(subtype)
            if !labels.contains(where: { $0.isSameDNSLabel(as: label) }) { labels.append(label) }
        }
        self.init(
            name: try ServiceName(name),
            type: type,
            domain: try Domain(domain),
            port: try Port(port),
            txt: txt,
            subtypes: labels
        )
    }

    /// The wanted identity.
    public var instance: ServiceInstance { ServiceInstance(name: name, type: type, domain: domain) }
}
