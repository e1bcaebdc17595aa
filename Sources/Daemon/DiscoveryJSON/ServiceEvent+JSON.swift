public import DNSSD
package import Discovery

extension Change {
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
        let change = try Change<DiscoveredService>(json) { json throws(JSONShapeError) in
            try DiscoveredService(line: json, names)
        }
        guard let change else { return nil }
        self.init(change)
    }
}

extension BackendState {
    /// Reads what `JSONWriter.backendLine(_:cursor:)` wrote; nil for an unknown state.
    public init?(_ json: JSONValue) {
        let reason = json["reason"]?.string?.escapedForTerminal ?? "no reason was given"
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
