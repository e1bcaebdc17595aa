public import DNSSD

/// How much of a service is written.
public enum ServiceDetail: Hashable, Sendable {
    /// Its identity and interfaces: what browsing alone tells.
    case identity
    /// Host, port, TXT and endpoints too.
    case full
}

extension JSONWriter {
    /// Writes a service as one object.
    /// - Parameters:
    ///   - service: the service.
    ///   - detail: how much of it is written.
    ///   - keyState: what is known of the key that it had last; nil if it was not connected to.
    public mutating func service(_ service: DiscoveredService, detail: ServiceDetail, keyState: String? = nil) {
        object { object in
            object.member("name", service.instance.name.text)
            object.member("type", service.instance.type.description)
            object.member("domain", service.instance.domain.text)
            if detail == .full { object.write(ServiceField.learned, of: service) }
            object.member("interfaces", service.interfaces.names)
            if let keyState {
                object.object("identity") { $0.member("state", keyState) }
            }
            if detail == .full { object.write(ServiceField.standing, of: service) }
        }
    }

    /// Writes a TXT record as an object: text, `null` for a key without `=`, or `{"base64":…}` for bytes that are not UTF-8.
    public mutating func txt(_ record: TXTRecord) {
        object { object in
            for entry in record.entries {
                object.key(entry.key)
                object.txtValue(entry.value)
            }
        }
    }

    /// Writes an endpoint; a link-local address has its interface as the zone (RFC 4007 §11.2).
    public mutating func endpoint(_ endpoint: Endpoint) {
        object { object in
            object.member("address", endpoint.addressText)
            object.member("port", Int(endpoint.port.rawValue))
            object.member("family", endpoint.address.family.rawValue)
            if let interface = endpoint.interface { object.member("interface", interface.name) }
            if let target = endpoint.target {
                object.member("host", target.host.text)
                object.member("priority", Int(target.priority))
                object.member("weight", Int(target.weight))
            }
        }
    }

    private mutating func write(_ fields: [ServiceField], of service: DiscoveredService) {
        for field in fields { field.write(service, &self) }
    }

    private mutating func txtValue(_ value: [UInt8]?) {
        guard let value else { return null() }
        if let text = String(validating: value, as: UTF8.self) { return string(text) }
        object { $0.member("base64", Base64.encode(value)) }
    }
}

extension Sequence<NetworkInterface> {
    /// The names, each once: an interface that was made anew under its old name counts once for a reader.
    var names: [String] {
        let names = map(\.name)
        return names.count > 1 ? names.uniqued() : names
    }
}

extension ListEvent {
    /// Reads a line of a browser or of a `watch` of the daemon; nil for an event that this version does not know.
    /// - Parameter value: reads what the line is about.
    package init?(
        _ json: JSONValue, value: (JSONValue) throws(JSONShapeError) -> Value
    ) throws(JSONShapeError) {
        switch json["event"]?.string {
        case "added": self = .found(try value(json))
        case "updated": self = .changed(try value(json))
        case "removed": self = .lost(try value(json))
        case "settled": self = .settled
        case "backend":
            guard let state = BackendState(json) else { return nil }
            self = .backend(state)
        case "degraded": self = .degraded(json["reason"]?.string ?? "")
        default: return nil
        }
    }
}

extension DiscoveredService {
    /// Reads the service of a line.
    package init(line json: JSONValue, _ names: InterfaceNames) throws(JSONShapeError) {
        guard let service = json["service"] else { throw JSONShapeError("a line has no service") }
        try self.init(service, names)
    }
}

extension ServiceEvent {
    /// Reads a line of `browse --json` or of the daemon's `watch`; nil for an event that this version does not know.
    /// - Throws: the reason if it is not such a line.
    public init?(_ json: JSONValue, _ names: InterfaceNames) throws(JSONShapeError) {
        try self.init(json) { json throws(JSONShapeError) in try DiscoveredService(line: json, names) }
    }
}

extension BackendState {
    /// Reads what `JSONWriter.backendLine(_:cursor:)` wrote; nil for an unknown state.
    public init?(_ json: JSONValue) {
        let reason = json["reason"]?.string?.escapedOnce ?? "no reason was given"
        switch json["state"]?.string {
        case "available": self = .available
        case "unavailable": self = .unavailable(reason)
        case "lost": self = .lost(reason)
        case "recovered": self = .recovered
        default: return nil
        }
    }

    /// Its name in JSON.
    public var stateName: String {
        switch self {
        case .available: "available"
        case .unavailable: "unavailable"
        case .lost: "lost"
        case .recovered: "recovered"
        }
    }

    /// Why it is unavailable.
    public var reason: String? {
        switch self {
        case .available, .recovered: nil
        case .unavailable(let reason), .lost(let reason): reason
        }
    }
}

extension JSONWriter {
    /// Writes the state of the backend, including the first, so that a reader knows whether to wait.
    public mutating func backendLine(_ state: BackendState, cursor: String? = nil) {
        line("backend") { object in
            object.member("state", state.stateName)
            if let reason = state.reason { object.member("reason", reason) }
            if let cursor { object.member("cursor", cursor) }
        }
    }
}
