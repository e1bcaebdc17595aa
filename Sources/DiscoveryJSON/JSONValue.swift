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
