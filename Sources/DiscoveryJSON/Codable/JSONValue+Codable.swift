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
