public import DNSSD
import Discovery
public import DiscoveryJSON

/// A line of `GET /v1/types/watch` or `GET /v1/domains/watch`: a value came or went.
public enum PresenceLine<Value: Sendable>: Sendable {
    /// It is present.
    case added(Value, interfaces: [NetworkInterface])
    /// It is gone.
    case removed(Value)
    /// Everything known at the start has been reported.
    case settled
    /// The backend went away or came back.
    case backend(BackendState)
    /// Something was left out.
    case degraded(String)
    /// An event that this version does not know.
    case unknown

    init(_ bytes: [UInt8], _ names: InterfaceNames, _ value: (JSONValue) -> Value?) throws(JSONShapeError) {
        let json: JSONValue
        do { json = try JSONReader.read(bytes) } catch { throw JSONShapeError(error.description) }
        let event = json["event"]?.string
        switch event {
        case "added", "removed":
            guard let value = value(json) else { throw JSONShapeError("a line has no type or domain") }
            let interfaces = (json["interfaces"]?.strings ?? []).map { names.interface($0) }
            self = event == "added" ? .added(value, interfaces: interfaces) : .removed(value)
        case "settled": self = .settled
        case "backend": self = BackendState(json).map { .backend($0) } ?? .unknown
        case "degraded": self = .degraded(json["reason"]?.string ?? "")
        default: self = .unknown
        }
    }
}

extension Domain {
    init?(_ json: JSONValue) {
        guard let domain = (json["domain"]?.string).flatMap({ Domain(observed: $0) }) else { return nil }
        self = domain
    }
}

extension TypeKey {
    init?(_ json: JSONValue) {
        guard let type = (json["type"]?.string).flatMap({ ServiceType(observed: $0) }),
            let domain = Domain(json)
        else { return nil }
        self.init(type: type, domain: domain)
    }
}

extension JSONWriter {
    /// Writes the members of a service type.
    public mutating func typeMembers(_ type: ServiceType, _ domain: Domain, interfaces: [String]? = nil) {
        member("type", type.description)
        member("domain", domain.text)
        if let interfaces { member("interfaces", interfaces) }
    }
}
