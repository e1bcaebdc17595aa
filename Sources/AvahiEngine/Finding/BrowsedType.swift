import DNSSD

/// Filters a browser's reports: accepts services of the type in the domain that were asked for. A value.
///
/// A PTR record can point to another type, another domain or the type itself, and avahi-daemon reports all of them.
struct BrowsedType {
    private let type: ServiceType
    private let domain: Domain
    /// The spelling accepted last, which thousands of services share: one comparison is enough for each.
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
