#if Commands
internal import DNSSD

/// What is published, for people.
enum PublishedText {
    /// The service and its port, or the host and its addresses, and for whom the name had to change.
    static func of(_ service: OfferedService, as name: ServiceName) -> String {
        if service.isAddressRecord, let host = service.host {
            return "\(host.name) address \(host.addresses.map(\.description).joined(separator: ", "))"
        }
        let instance = ServiceInstance(name: name, type: service.type, domain: service.domain)
        let renamed = name == service.name ? "" : " (renamed: \"\(service.name)\" is taken)"
        return "\(instance) port \(service.port)\(renamed)"
    }
}
#endif
