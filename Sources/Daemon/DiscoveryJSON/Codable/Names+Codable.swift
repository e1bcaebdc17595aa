public import DNSSD

// Names are texts, as docs/contract.md has them. What is decoded may be any that a DNS packet can carry: who publishes checks it.

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
