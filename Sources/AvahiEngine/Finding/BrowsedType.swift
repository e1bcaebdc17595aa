import DNSSD

/// Accepts what a browser for a type may report: services of this type in this domain. A value.
///
/// A PTR record can point anywhere, to another type, another domain or the type itself, and avahi-daemon reports all of
/// them.
struct BrowsedType {
    private let type: ServiceType
    private let domain: Domain
    /// The last accepted spelling: one comparison for each of thousands.
    private var accepted: (type: String, domain: String)?

    init(_ type: ServiceType, in domain: Domain) {
        self.type = type.base
        self.domain = domain
    }

    mutating func includes(type: String, domain: String) -> Bool {
        if let accepted, accepted == (type, domain) { return true }
        guard ServiceType(observed: type) == self.type, Domain(observed: domain) == self.domain else { return false }
        accepted = (type, domain)
        return true
    }
}
