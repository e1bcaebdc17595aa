public import DNSSD
public import DiscoveryJSON

/// A line of `GET /v1/services/watch`.
public enum WatchLine: Sendable {
    /// A change of a service or of the backend.
    case event(ServiceEvent)
    /// The reader was too slow and missed events that are no longer kept; the stream ends.
    case overflow
    /// An event that this version does not know.
    case unknown

    /// Reads a line.
    public init(_ bytes: [UInt8], _ names: InterfaceNames) throws(JSONShapeError) {
        let json: JSONValue
        do { json = try JSONReader.read(bytes) } catch { throw JSONShapeError(error.description) }
        switch json["event"]?.string {
        case "added": self = .event(.found(try Self.service(json, names)))
        case "updated": self = .event(.changed(try Self.service(json, names)))
        case "removed": self = .event(.lost(try Self.service(json, names)))
        case "settled": self = .event(.settled)
        case "backend": self = BackendState(json).map { .event(.backend($0)) } ?? .unknown
        case "degraded": self = .event(.degraded(json["reason"]?.string ?? ""))
        case "overflow": self = .overflow
        default: self = .unknown
        }
    }

    private static func service(
        _ json: JSONValue,
        _ names: InterfaceNames
    ) throws(JSONShapeError) -> DiscoveredService {
        guard let service = json["service"] else { throw JSONShapeError("a line has no service") }
        return try DiscoveredService(service, names)
    }
}

extension BackendState {
    /// Reads what `JSONWriter.backendLine` wrote; nil for an unknown state.
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

    /// Writes the state of the backend, including the first, so that a reader knows whether to wait.
    public mutating func backendLine(_ state: BackendState, cursor: String? = nil) {
        line("backend") { object in
            object.member("state", state.stateName)
            if let reason = state.reason { object.member("reason", reason) }
            if let cursor { object.member("cursor", cursor) }
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
}
