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
        if json["event"]?.string == "overflow" {
            self = .overflow
        } else {
            self = try ServiceEvent(json, names).map(Self.event) ?? .unknown
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
