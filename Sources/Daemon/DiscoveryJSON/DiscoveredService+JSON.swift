public import DNSSD
internal import DiscoverySystem
internal import Libc

extension DiscoveredService {
    /// Reads a service as `JSONWriter.service(_:detail:)` writes it. Ignores unknown members.
    /// - Throws: the reason if it is not such a service.
    public init(_ json: JSONValue, _ names: InterfaceNames) throws(JSONShapeError) {
        let instance = try ServiceInstance(json)
        guard let interfaces = json["interfaces"]?.strings else {
            throw JSONShapeError("a service has no \"interfaces\", or they are no texts")
        }
        self.init(instance: instance, interfaces: interfaces.map { names.interface($0) })
        // Without it, what browsing alone tells is all that was written.
        guard json["state"]?.string != nil else { return }
        for field in ServiceField.learned + ServiceField.standing { try field.read(json, &self, names) }
    }
}

/// JSON of an unexpected shape.
public struct JSONShapeError: Error, Hashable, Sendable {
    /// What is missing or wrong.
    public let reason: String

    /// Creates an error.
    public init(_ reason: String) { self.reason = reason }
}

extension ServiceInstance {
    init(_ json: JSONValue) throws(JSONShapeError) {
        self.init(
            name: try json.read("name") { ServiceName(json: $0) },
            type: try json.read("type") { ServiceType(observed: $0) },
            domain: try json.read("domain") { Domain(observed: $0) })
    }
}

extension JSONValue {
    /// Reads a text that every service has.
    fileprivate func read<Value>(_ key: String, _ body: (String) -> Value?) throws(JSONShapeError) -> Value {
        guard let text = self[key] else { throw JSONShapeError("a service has no \"\(key)\"") }
        guard let value = text.string.flatMap(body) else { throw JSONShapeError("the \"\(key)\" of a service is none") }
        return value
    }
}

extension Endpoint {
    init(_ json: JSONValue, _ names: InterfaceNames) throws(JSONShapeError) {
        guard let text = json["address"]?.string, let number = json["port"]?.integer, let raw = UInt16(exactly: number),
            let port = Port(rawValue: raw)
        else { throw JSONShapeError("an endpoint has no address or port") }
        let interface = (json["interface"]?.string).map { names.interface($0) }
        guard let address = IPAddress(text, on: interface) else { throw JSONShapeError("an address is none") }
        self.init(address: address, port: port, interface: interface, target: try ServiceTarget(json))
    }
}

extension ServiceTarget {
    /// Nil if the service has only one target, which its endpoints do not repeat.
    fileprivate init?(_ json: JSONValue) throws(JSONShapeError) {
        guard let text = json["host"]?.string else { return nil }
        guard let host = HostName(observed: text) else { throw JSONShapeError("a host is not a DNS name") }
        func number(_ key: String) -> UInt16 { json[key]?.integer.flatMap { UInt16(exactly: $0) } ?? 0 }
        self.init(host: host, priority: number("priority"), weight: number("weight"))
    }
}

extension TXTRecord {
    /// A record as the network had it.
    init(observed members: [JSONValue.Member]) throws(JSONShapeError) {
        var strings: [[UInt8]] = []
        for member in members {
            guard let value = member.value.txtValue else { throw JSONShapeError("a TXT value is none") }
            strings.append(Array(member.key.utf8) + (value.map { [UInt8(ascii: "=")] + $0 } ?? []))
        }
        self.init(strings: strings)
    }
}

extension JSONValue {
    /// The bytes of a TXT value; an inner nil if the key has no `=`, an outer nil if this is not a TXT value.
    package var txtValue: [UInt8]?? {
        switch self {
        case .null: .some(nil)
        case .string(let text): Array(text.utf8)
        default: self["base64"]?.string.flatMap { Base64.decode($0) }.map { .some($0) }
        }
    }
}

/// Interfaces by name. JSON carries names, not indices: dialling needs the index that the interface has in this process's network namespace,
/// which may differ from the writer's. What was asked once is kept: for one answer, not for a stream that goes on.
public final class InterfaceNames: Sendable {
    private static let limit = 256

    private let known = Locked<[String: NetworkInterface]>([:])

    /// Creates an empty cache.
    public init() {}

    /// The interface of this name; its index is 0 if this process has none.
    public func interface(_ name: String) -> NetworkInterface {
        if let interface = known.withLock({ $0[name] }) { return interface }
        let interface = NetworkInterface(index: unsafe if_nametoindex(name), name: name)
        known.withLock { known in
            if known.count < Self.limit { known[name] = interface }
        }
        return interface
    }

    /// Forgets all, for who keeps one longer than an answer: the next question goes to the system. An interface that is
    /// created again has another index.
    public func forget() { known.withLock { $0 = [:] } }
}
