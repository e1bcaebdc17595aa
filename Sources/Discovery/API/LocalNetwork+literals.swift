public import DNSSD

// A type that stands in the program's text needs no `try`. Text from elsewhere is no `StaticString`, and goes through `ServiceType.init(_:)`
// (docs/decisions/0054-first-contact.md).
extension LocalNetwork {
    /// The services of one type, as they come, change and go: `browse("_witap._tcp")`.
    ///
    /// If the literal is no type, iterating throws `.invalidServiceType`, with the rule that it breaks.
    public func browse(
        _ literal: StaticString,
        in domain: Domain = .local,
        on interfaces: InterfaceFilter = .all,
        over family: IPAddress.Family? = nil,
        resolution: ServiceQuery.Resolution = .watch
    ) -> ServiceEvents {
        do throws(DiscoveryError) {
            let type = try ServiceType(literal.description)
            return browse(type, in: domain, on: interfaces, over: family, resolution: resolution)
        } catch {
            return ServiceEvents(failing: error)
        }
    }

    /// The services of one type as a list, whenever it changes: `services(of: "_witap._tcp")`.
    ///
    /// If the literal is no type, iterating throws `.invalidServiceType`, with the rule that it breaks.
    public func services(
        of literal: StaticString,
        in domain: Domain = .local,
        on interfaces: InterfaceFilter = .all,
        over family: IPAddress.Family? = nil,
        resolution: ServiceQuery.Resolution = .watch
    ) -> ServiceLists {
        browse(literal, in: domain, on: interfaces, over: family, resolution: resolution).lists
    }
}
