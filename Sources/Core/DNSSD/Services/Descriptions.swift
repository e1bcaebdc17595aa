// How values read in a log, on one line; each is safe for a terminal.

extension DiscoveredService: Identifiable, CustomStringConvertible {
    /// The service's identity: a list of services keeps its place in it.
    public var id: ServiceInstance { instance }

    /// The full name, then what is known: `tony._witap._tcp.local at h1.local:9000 (10.0.0.7, fe80::1%eth0)`.
    public var description: String {
        guard let host, let port else { return "\(instance) (\(state.rawValue))" }
        var addresses: [String] = []
        for endpoint in endpoints where !addresses.contains(endpoint.addressText) {
            addresses.append(endpoint.addressText)
        }
        return "\(instance) at \(host):\(port) (\(addresses.joined(separator: ", ").escapedForTerminal))"
    }
}

extension OfferedService: Identifiable, CustomStringConvertible {
    /// The identity under the wanted name.
    public var id: ServiceInstance { instance }

    /// The full name and the port: `tony._witap._tcp.local port 9000`.
    public var description: String { "\(instance) port \(port)" }
}

extension ServiceEvent: CustomStringConvertible {
    /// What happened, and to whom: `found tony._witap._tcp.local at …`.
    public var description: String {
        switch self {
        case .found(let service): "found \(service)"
        case .changed(let service): "changed \(service)"
        case .lost(let service): "lost \(service.instance)"
        case .settled: "settled"
        case .backend(let state): "backend \(state)"
        case .degraded(let reason): "degraded: \(reason.escapedForTerminal)"
        }
    }
}

extension BackendState: CustomStringConvertible {
    /// The state, with the reason where there is one: `lost: avahi-daemon does not answer`.
    public var description: String {
        switch self {
        case .available: "available"
        case .unavailable(let reason): "unavailable: \(reason)"
        case .lost(let reason): "lost: \(reason)"
        case .recovered: "recovered"
        }
    }
}
