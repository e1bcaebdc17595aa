/// A value of JSON (RFC 8259). Members of an object keep their order, for a TXT record has one.
public enum JSONValue: Hashable, Sendable {
    /// `null`
    case null
    /// `true` or `false`
    case bool(Bool)
    /// A number without fraction and exponent, in the range of `Int`.
    case integer(Int)
    /// Any other number.
    case double(Double)
    /// Text.
    case string(String)
    /// Values in order.
    case array([JSONValue])
    /// Keys, each once, with their values.
    case object([Member])

    /// One key of an object, and its value.
    public struct Member: Hashable, Sendable {
        /// The key.
        public let key: String
        /// Its value.
        public let value: JSONValue

        /// Creates a member.
        public init(_ key: String, _ value: JSONValue) {
            self.key = key
            self.value = value
        }
    }
}

extension JSONValue {
    /// The value of a key; nil when this is no object, or has no such key.
    public subscript(key: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.key == key }?.value
    }

    /// The text; nil for everything but a string.
    public var string: String? { if case .string(let text) = self { text } else { nil } }
    /// The number; nil for everything but a whole number.
    public var integer: Int? { if case .integer(let number) = self { number } else { nil } }
    /// The truth; nil for everything but `true` and `false`.
    public var bool: Bool? { if case .bool(let bool) = self { bool } else { nil } }
    /// The elements; nil for everything but an array.
    public var array: [JSONValue]? { if case .array(let values) = self { values } else { nil } }
    /// The members; nil for everything but an object.
    public var members: [Member]? { if case .object(let members) = self { members } else { nil } }
    /// The strings of an array of nothing but strings; nil for everything else.
    public var strings: [String]? {
        guard let array else { return nil }
        let strings = array.compactMap(\.string)
        return strings.count == array.count ? strings : nil
    }
}

extension JSONValue {
    /// Any key.
    struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { return nil }
    }
}

/// As what it stands for: an object, an array, a number. An encoder may not keep the order of an object's members (Foundation's `JSONEncoder`
/// does not); what is decoded has them sorted by key.
extension JSONValue: Codable {
    /// Encodes the value.
    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .null:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .bool(let truth): try encoder.encodeOne(truth)
        case .integer(let number): try encoder.encodeOne(number)
        case .double(let number): try encoder.encodeOne(number)
        case .string(let text): try encoder.encodeOne(text)
        case .array(let values):
            var container = encoder.unkeyedContainer()
            for value in values { try container.encode(value) }
        case .object(let members):
            var container = encoder.container(keyedBy: Key.self)
            for member in members { try container.encode(member.value, forKey: Key(stringValue: member.key)) }
        }
    }

    /// Decodes any value, at most `JSONReader.maximumDepth` deep.
    public init(from decoder: any Decoder) throws {
        guard decoder.codingPath.count <= JSONReader.maximumDepth else {
            throw DecodingError.broken("nested deeper than \(JSONReader.maximumDepth)", decoder)
        }
        if let object = try? decoder.container(keyedBy: Key.self) {
            let keys = object.allKeys.sorted { $0.stringValue < $1.stringValue }
            self = .object(try keys.map { Member($0.stringValue, try object.decode(JSONValue.self, forKey: $0)) })
        } else if var array = try? decoder.unkeyedContainer() {
            var values: [JSONValue] = []
            while !array.isAtEnd { values.append(try array.decode(JSONValue.self)) }
            self = .array(values)
        } else {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                self = .null
            } else if let truth = try? container.decode(Bool.self) {
                self = .bool(truth)
            } else if let number = try? container.decode(Int.self) {
                self = .integer(number)
            } else if let number = try? container.decode(Double.self) {
                self = .double(number)
            } else {
                self = .string(try container.decode(String.self))
            }
        }
    }
}

extension JSONValue {
    /// The value that a writer wrote: the form that it has is kept in one place.
    init(_ write: (inout JSONWriter) -> Void) throws(JSONReader.Failure) {
        var writer = JSONWriter()
        write(&writer)
        self = try JSONReader.read(writer.bytes)
    }
}

extension Encoder {
    func encodeOne(_ value: some Encodable) throws {
        var container = singleValueContainer()
        try container.encode(value)
    }
}

extension DecodingError {
    static func broken(_ reason: String, _ decoder: any Decoder) -> DecodingError {
        .dataCorrupted(Context(codingPath: decoder.codingPath, debugDescription: reason))
    }
}
