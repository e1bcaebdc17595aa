import DNSSD

/// The query of a URL (RFC 3986 §3.4): names with values. A name may occur several times.
public struct QueryString: Hashable, Sendable {
    /// Names and values in order, decoded.
    public private(set) var items: [Item] = []

    /// A name with its value.
    public struct Item: Hashable, Sendable {
        /// The name.
        public let name: String
        /// The value; empty when there is none.
        public let value: String
    }

    /// Creates an empty query.
    public init() {}

    /// Parses the text after `?`; `+` is a space, as browsers and curl send it.
    /// - Returns: nil if an escape is malformed or decodes to invalid UTF-8.
    public init?(_ text: some StringProtocol) {
        for part in text.split(separator: "&") {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let first = pair.first, let name = Self.decode(first) else { return nil }
            guard let value = pair.count == 2 ? Self.decode(pair[1]) : "" else { return nil }
            items.append(Item(name: name, value: value))
        }
    }

    /// The first value of a name.
    public subscript(name: String) -> String? { items.first { $0.name == name }?.value }

    /// All values of a name.
    public func all(_ name: String) -> [String] { items.filter { $0.name == name }.map(\.value) }

    /// Adds a name with its value.
    public mutating func add(_ name: String, _ value: String) { items.append(Item(name: name, value: value)) }

    /// The text after `?`.
    public var text: String {
        // Appends by hand: the first use of a generic costs a short command more than the work itself.
        var text = ""
        for item in items { text += (text.isEmpty ? "" : "&") + Self.encode(item.name) + "=" + Self.encode(item.value) }
        return text
    }

    /// Percent-encodes everything but unreserved characters (RFC 3986 §2.3), so that it fits into any part of a URL.
    public static func encode(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            if byte.isUnreserved {
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                encoded += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }
        }
        return encoded
    }

    /// - Returns: nil if an escape is malformed or decodes to invalid UTF-8.
    public static func decode(_ text: some StringProtocol) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(0x20)
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                    return nil
                }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        Character(Unicode.Scalar(byte)).hexDigitValue.map { UInt8($0) }
    }
}

extension UInt8 {
    /// A character that stands for itself in every part of a URL (RFC 3986 §2.3).
    package var isUnreserved: Bool { isASCIIAlphanumeric || "-._~".utf8.contains(self) }
}
