import DNSSD

/// A member of a service in JSON: how it is written and how it is read are in one place. A member that is missing leaves the service as it is.
struct ServiceField: Sendable {
    /// Writes the member of a service; nothing if there is none to write.
    let write: @Sendable (DiscoveredService, inout JSONWriter) -> Void
    /// Reads the member of an object into a service.
    let read: @Sendable (JSONValue, inout DiscoveredService, InterfaceNames) throws(JSONShapeError) -> Void

    /// What was learned of it, in the order written; the interfaces follow.
    static let learned = [
        ServiceField("subtypes") { key, service, writer in
            writer.member(key, service.subtypes)
        } read: { value, service, _ throws(JSONShapeError) in
            service.subtypes = value?.strings ?? []
        },
        ServiceField("host") { key, service, writer in
            writer.key(key)
            if let host = service.host { writer.string(host.text) } else { writer.null() }
        } read: { value, service, _ throws(JSONShapeError) in
            guard let text = value?.string else { return }
            guard let host = HostName(observed: text) else { throw JSONShapeError("a host is not a DNS name") }
            service.host = host
        },
        ServiceField("port") { key, service, writer in
            writer.member(key, service.port.map { Int($0.rawValue) })
        } read: { value, service, _ throws(JSONShapeError) in
            service.port = value?.integer.flatMap { UInt16(exactly: $0) }.flatMap { Port(rawValue: $0) }
        },
        ServiceField("txt") { key, service, writer in
            writer.key(key)
            writer.txt(service.txt)
        } read: { value, service, _ throws(JSONShapeError) in
            if let members = value?.members { service.txt = try TXTRecord(observed: members) }
        },
        ServiceField("endpoints") { key, service, writer in
            writer.key(key)
            writer.array { for endpoint in service.endpoints { $0.endpoint(endpoint) } }
        } read: { value, service, names throws(JSONShapeError) in
            for endpoint in value?.array ?? [] { service.endpoints.append(try Endpoint(endpoint, names)) }
        },
    ]

    /// How it stands, in the order written; a flag only if it is set.
    static let standing = [
        ServiceField("state") { key, service, writer in
            writer.member(key, service.state.rawValue)
        } read: { value, service, _ throws(JSONShapeError) in
            guard let state = value?.string.flatMap({ DiscoveredService.State(rawValue: $0) }) else {
                throw JSONShapeError("a service has an unknown state")
            }
            service.state = state
        },
        // Daemons before 0.2 indicate it by the interface alone.
        flag("own", \.isOwn) { $0.interfaces.contains { $0.name == "lo" } },
        flag("authenticated", \.isAuthenticated),
        text("withheld", \.withheld),
        flag("truncated", \.txt.isTruncated),
    ]

    /// - Parameter read: given nil where the member is missing.
    private init(
        _ key: String, write: @escaping @Sendable (String, DiscoveredService, inout JSONWriter) -> Void,
        read: @escaping @Sendable (JSONValue?, inout DiscoveredService, InterfaceNames) throws(JSONShapeError) -> Void
    ) {
        self.write = { write(key, $0, &$1) }
        self.read = { json, service, names throws(JSONShapeError) in try read(json[key], &service, names) }
    }

    private typealias Place<Value> = any WritableKeyPath<DiscoveredService, Value> & Sendable

    /// - Parameter ofOld: what it is where the member is missing.
    private static func flag(
        _ key: String, _ place: Place<Bool>, ofOld: @escaping @Sendable (DiscoveredService) -> Bool = { _ in false }
    ) -> ServiceField {
        ServiceField(key) { key, service, writer in
            guard service[keyPath: place] else { return }
            writer.key(key)
            writer.bool(true)
        } read: { value, service, _ throws(JSONShapeError) in
            if value?.bool ?? ofOld(service) { service[keyPath: place] = true }
        }
    }

    private static func text(_ key: String, _ place: Place<String?>) -> ServiceField {
        ServiceField(key) { key, service, writer in
            if let text = service[keyPath: place] { writer.member(key, text) }
        } read: { value, service, _ throws(JSONShapeError) in
            service[keyPath: place] = value?.string
        }
    }
}
