public import DNSSD

// Each value as docs/contract/json.md has it: what JSONWriter writes, read as the daemon's answers are read.

extension DiscoveredService: Codable {
    /// Encodes the object that `browse -r --json` prints as `service`.
    public func encode(to encoder: any Encoder) throws {
        try encoder.encode(self) { $0.service(self, detail: .full) }
    }

    /// Decodes such an object; members that are not known are ignored. An interface gets the index that it has on this machine, 0 if there is
    /// none. The keys of the TXT record are sorted, for decoders do not tell their order.
    public init(from decoder: any Decoder) throws {
        self = try decoder.read { json throws(JSONShapeError) in try DiscoveredService(json, InterfaceNames()) }
    }
}

extension ServiceEvent: Codable {
    /// Encodes the object that `browse -r --json` prints as a line; a change of the backend as the daemon's `watch` has it.
    public func encode(to encoder: any Encoder) throws {
        try encoder.encode(self) { writer in
            if case .backend(let state) = self { writer.backendLine(state) } else { writer.line(self, detail: .full) }
        }
    }

    /// Decodes a line of `browse --json` or of the daemon's `watch`.
    public init(from decoder: any Decoder) throws {
        self = try decoder.read { json throws(JSONShapeError) in
            guard let event = try ServiceEvent(json, InterfaceNames()) else {
                throw JSONShapeError("not an event of a service")
            }
            return event
        }
    }
}

extension Endpoint: Codable {
    /// Encodes `{"address":…,"port":…,"family":…,"interface":…}`.
    public func encode(to encoder: any Encoder) throws {
        try encoder.encode(self) { $0.endpoint(self) }
    }

    /// Decodes such an object.
    public init(from decoder: any Decoder) throws {
        self = try decoder.read { json throws(JSONShapeError) in try Endpoint(json, InterfaceNames()) }
    }
}

extension TXTRecord: Codable {
    /// Encodes an object of texts, null for a key without `=`, and `{"base64":…}` for bytes that are not UTF-8.
    public func encode(to encoder: any Encoder) throws {
        try encoder.encode(self) { $0.txt(self) }
    }

    /// Decodes such an object, with the keys sorted; by the rules of `init(strings:)`, which leaves out what no record can have.
    public init(from decoder: any Decoder) throws {
        self = try decoder.read { json throws(JSONShapeError) in
            guard let members = json.members else { throw JSONShapeError("a TXT record is an object") }
            return try TXTRecord(observed: members)
        }
    }
}

extension ServiceInstance: Codable {
    /// Encodes `{"name":…,"type":…,"domain":…}`.
    public func encode(to encoder: any Encoder) throws {
        try encoder.encode(self) { $0.instance(self) }
    }

    /// Decodes such an object; members that are not known are ignored.
    public init(from decoder: any Decoder) throws {
        self = try decoder.read { json throws(JSONShapeError) in try ServiceInstance(json) }
    }
}

extension Encoder {
    fileprivate func encode(_ value: some Sendable, _ write: (inout JSONWriter) -> Void) throws {
        let json: JSONValue
        do throws(JSONReader.Failure) {
            json = try JSONValue(write)
        } catch {
            // A TXT record that a literal made has a key twice.
            throw EncodingError.invalidValue(
                value, EncodingError.Context(codingPath: codingPath, debugDescription: error.reason))
        }
        try json.encode(to: self)
    }
}

extension Decoder {
    fileprivate func read<Value>(_ body: (JSONValue) throws(JSONShapeError) -> Value) throws -> Value {
        let json = try JSONValue(from: self)
        do throws(JSONShapeError) {
            return try body(json)
        } catch {
            throw DecodingError.broken(error.reason, self)
        }
    }
}

// Names are texts, as docs/contract/json.md has them. What is decoded may be any that a DNS packet can carry: who publishes checks it.

extension ServiceName: Codable {
    /// Encodes `text`.
    public func encode(to encoder: any Encoder) throws { try encoder.encodeOne(text) }

    /// Decodes a text of 1 to 63 bytes.
    public init(from decoder: any Decoder) throws {
        self = try decoder.name("a name has 1 to 63 bytes (RFC 6763 §4.1.1)") { ServiceName(json: $0) }
    }

    init?(json text: String) {
        guard 1...Self.maximumLength ~= text.utf8.count else { return nil }
        self.init(observed: text)
    }
}

extension ServiceType: Codable {
    /// Encodes `text`.
    public func encode(to encoder: any Encoder) throws { try encoder.encodeOne(text) }

    /// Decodes a type, such as `_witap._tcp`.
    public init(from decoder: any Decoder) throws {
        self = try decoder.name("not a type of a service (RFC 6763 §7)") { ServiceType(observed: $0) }
    }
}

extension Domain: Codable {
    /// Encodes `text`.
    public func encode(to encoder: any Encoder) throws { try encoder.encodeOne(text) }

    /// Decodes a domain.
    public init(from decoder: any Decoder) throws {
        self = try decoder.name("not a domain (RFC 1035 §2.3.4)") { Domain(observed: $0) }
    }
}

extension HostName: Codable {
    /// Encodes `text`.
    public func encode(to encoder: any Encoder) throws { try encoder.encodeOne(text) }

    /// Decodes the name of a host.
    public init(from decoder: any Decoder) throws {
        self = try decoder.name("not the name of a host (RFC 1035 §2.3.4)") { HostName(observed: $0) }
    }
}

extension Port: Codable {
    /// Encodes the number.
    public func encode(to encoder: any Encoder) throws { try encoder.encodeOne(rawValue) }

    /// Decodes a number from 1 to 65535.
    public init(from decoder: any Decoder) throws {
        guard let port = Port(rawValue: try decoder.singleValueContainer().decode(UInt16.self)) else {
            throw DecodingError.broken("a port is a number from 1 to 65535", decoder)
        }
        self = port
    }
}

extension Decoder {
    fileprivate func name<Name>(_ rule: String, _ read: (String) -> Name?) throws -> Name {
        guard let name = read(try singleValueContainer().decode(String.self)) else {
            throw DecodingError.broken(rule, self)
        }
        return name
    }
}
