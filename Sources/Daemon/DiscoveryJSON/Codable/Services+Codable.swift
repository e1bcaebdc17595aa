public import DNSSD

// Each value as docs/contract.md has it: what JSONWriter writes, read as the daemon's answers are read.

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
