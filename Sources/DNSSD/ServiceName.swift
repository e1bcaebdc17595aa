/// The name of one service instance, as people read it: "Tony's Mac", "Büro 2 🖨" (RFC 6763 §4.1.1).
///
/// Compared byte for byte: two names that look alike but are encoded differently are two services.
public struct ServiceName: Sendable {
    /// The longest name in bytes of UTF-8 (RFC 6763 §4.1.1: one DNS label).
    public static let maximumLength = 63

    /// The name, unescaped.
    public let value: String

    /// A name that was seen on the network: any text, to be escaped wherever it is shown.
    public init(observed value: String) { self.value = value }
}

extension ServiceName: Hashable, Comparable {
    /// Byte for byte.
    public static func == (one: ServiceName, other: ServiceName) -> Bool {
        one.value.hasSameBytes(as: other.value)
    }

    /// By bytes.
    public static func < (one: ServiceName, other: ServiceName) -> Bool {
        one.value.utf8.lexicographicallyPrecedes(other.value.utf8)
    }

    /// Consistent with `==`.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(utf8: value, foldingCase: false)
    }
}

extension ServiceName: CustomStringConvertible {
    /// The name, escaped for a terminal.
    public var description: String { value.escapedForTerminal }
}
