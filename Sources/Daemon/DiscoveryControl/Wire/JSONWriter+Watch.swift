public import DNSSD
public import DiscoveryJSON

extension JSONWriter {
    /// Writes an event with its cursor as a line of `watch`.
    public mutating func watchLine(_ event: ServiceEvent, detail: ServiceDetail, cursor: String) {
        switch event {
        case .found(let service): serviceLine("added", service, detail, cursor)
        case .changed(let service): serviceLine("updated", service, detail, cursor)
        case .lost(let service): serviceLine("removed", service, detail, cursor)
        case .settled: line("settled") { $0.member("cursor", cursor) }
        case .backend(let state): backendLine(state, cursor: cursor)
        case .degraded(let reason):
            line("degraded") { object in
                object.member("reason", reason)
                object.member("cursor", cursor)
            }
        }
    }

    private mutating func serviceLine(
        _ event: String,
        _ service: DiscoveredService,
        _ detail: ServiceDetail,
        _ cursor: String
    ) {
        line(event) { object in
            object.key("service")
            object.service(service, detail: detail)
            object.member("cursor", cursor)
        }
    }

    /// Writes the members of a service type.
    public mutating func typeMembers(_ type: ServiceType, _ domain: Domain, interfaces: [String]? = nil) {
        member("type", type.description)
        member("domain", domain.text)
        if let interfaces { member("interfaces", interfaces) }
    }
}
